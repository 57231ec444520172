// Soft clipping that hardly aliases.
#pragma once

#include <vector>

#include "audio/buffer.h"

namespace hum::data {

// Replaces x by x / sqrt(1 + x^2), the shape of an overdriven amplifier. Computed at twice the rate
// with an antiderivative in place of the shape, so that less folds back; a quarter of a sample
// late. One channel. Source: Parker, Zavalishin, Le Bivic 2016, "Reducing the aliasing of nonlinear
// waveshaping using continuous-time convolution".
void drive(std::vector<float>& samples);

// Both channels of a stereo sound, at a common level before `drive_db`, so that the drive acts
// alike on soft and loud parts. Silence stays silence.
void drive_channels(audio::AudioBuffer& sound, double drive_db);

}  // namespace hum::data
