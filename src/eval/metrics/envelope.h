// Correlation of the loudness of two sounds over time.
#pragma once

#include <span>
#include <vector>

namespace hum::eval {

// Frames overlap by half: each is two hops long.
inline constexpr double kEnvelopeHop_s = 0.02;

// RMS in dB of 50 frames per second (window 40 ms), with a floor 60 dB below the loudest frame.
// Empty for silence. Shapes: mono samples.
std::vector<double> loudness_envelope_db(std::span<const float> samples, int rate_hz);

// Pearson correlation of the two envelopes over their common length, independent of level and
// scale. 0 when either is constant or silent.
double envelope_correlation(std::span<const float> reference, std::span<const float> estimate,
                            int rate_hz);

}  // namespace hum::eval
