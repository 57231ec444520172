// The distance of two renderings of the same music in log mel bands at seven resolutions and in log
// STFT bins at two. Both sounds are compared at -16 LUFS; on each scale, values more than 60 dB
// below the reference's largest are raised to that floor. 0.05 is 1 dB.
#pragma once

#include <span>

#include "eval/metrics/spectra.h"

namespace hum::eval {

// Mean over DAC's training scales of the mean absolute difference of log10 mel magnitudes. Spectra
// of sounds of the same length; 0 without samples. Source: descript-audio-codec
// MelSpectrogramLoss, with floor and mean.
double mel_distance(const Spectra& reference, const Spectra& estimate);
// Shapes: mono samples; the longer one is cut to the shorter one's length.
double mel_distance(std::span<const float> reference, std::span<const float> estimate, int rate_hz);

// The same over magnitudes of windows 2048 and 512, hops a quarter of them.
// Source: descript-audio-codec MultiScaleSTFTLoss' log part, with floor and mean.
double stft_distance(const Spectra& reference, const Spectra& estimate);

}  // namespace hum::eval
