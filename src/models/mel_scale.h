// Bands of a spectrum as a matrix to multiply magnitudes with.
#pragma once

#include <vector>

#include "nn/spectral_loss.h"

namespace hum::models {

// Slaney's scale up to half of 22,050 Hz, triangles of height one.
nn::MelScale mel_scale(int64_t window_samples, int64_t hop_samples, int64_t bands);

// Centres at equal ratios from 40 Hz up to half of 22,050 Hz. Triangles of height one that reach
// their neighbours or, where bins are further apart than bands, the next bins.
nn::MelScale octave_scale(int64_t window_samples, int64_t hop_samples, int64_t bands);

// The scales of the decoders' training loss: windows 128..2048, hop a quarter window.
std::vector<nn::MelScale> training_mel_scales();

}  // namespace hum::models
