// Measures loudness per EBU R 128 (libebur128), and normalises it.
#pragma once

#include <cmath>
#include <memory>
#include <span>

#include "audio/buffer.h"

namespace hum::audio {

// The ratio of amplitudes.
inline double from_db(double db) { return std::pow(10, db / 20); }

// Integrated loudness in LUFS; -infinity for silence. Sound shorter than one gating block
// (400 ms) is measured as a whole, ungated. Shapes: interleaved samples. A single channel counts as
// one loudspeaker.
double integrated_lufs(std::span<const float> samples, int rate_hz, int channels = 1);

// Highest oversampled peak of any channel in dBTP; -infinity for silence.
double true_peak_dbtp(std::span<const float> samples, int rate_hz, int channels = 1);

// Measure the same of sound that comes block by block, in whole frames.
class LoudnessMeter {
 public:
  LoudnessMeter(int rate_hz, int channels);
  ~LoudnessMeter();
  void add(std::span<const float> samples);
  double integrated_lufs() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class TruePeakMeter {
 public:
  TruePeakMeter(int rate_hz, int channels);
  ~TruePeakMeter();
  void add(std::span<const float> samples);
  double dbtp() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct LoudnessTarget {
  double target_lufs = -16;
  double max_true_peak_dbtp = -1;
};

// Applies one gain, which reaches the target loudness unless the true peak would exceed its limit.
// Silence is unchanged. Returns the gain in dB.
double normalise(std::span<float> samples, int rate_hz, int channels = 1,
                 const LoudnessTarget& target = {});
double normalise(AudioBuffer& buffer, const LoudnessTarget& target = {});

}  // namespace hum::audio
