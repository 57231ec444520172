// Measures loudness after EBU R 128 (libebur128), and normalizes it.
#pragma once

#include <span>

#include "audio/buffer.h"

namespace hum::audio {

// Integrated loudness in LUFS; -infinity for silence. Sound shorter than the 400 ms of one gating
// block is measured as a whole and ungated. Shapes: interleaved samples. A single channel counts as
// one loudspeaker.
double integrated_lufs(std::span<const float> samples, int rate_hz, int channels = 1);

// Highest oversampled peak of any channel in dBTP; -infinity for silence.
double true_peak_dbtp(std::span<const float> samples, int rate_hz, int channels = 1);

struct LoudnessTarget {
  double target_lufs = -16;
  double max_true_peak_dbtp = -1;
};

// Applies one gain: up to the target loudness, or less if the true peak would exceed its limit.
// Silence does not change. Returns the gain in dB.
double normalise(std::span<float> samples, int rate_hz, int channels = 1,
                 const LoudnessTarget& target = {});
double normalise(AudioBuffer& buffer, const LoudnessTarget& target = {});

}  // namespace hum::audio
