// A bank of harmonics whose pitch and level follow control points: the one oscillator behind the
// sine, the excitation and the synthetic hum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hum::data {

// Samples between two control points: 1/7 of a melody frame.
inline constexpr int kControlSamples = 63;

// Pitch and level at first_sample + i * kControlSamples, linear in between; silent before and
// after.
struct HarmonicVoice {
  int64_t first_sample = 0;  // may be negative: what lies before sample 0 is not written
  std::vector<float> hz;
  std::vector<float> gain;
};

struct HarmonicShape {
  int max_harmonics = 1 << 20;
  double exponent = 0.5;  // harmonic k has amplitude k^-exponent
};

// out += gain * sum over k of k^-exponent sin(k phase), phase 0 at the first control point and
// continuous from there. Harmonics fade out over the last tenth below half the sample rate: nothing
// folds back.
void add_harmonics(const HarmonicVoice& voice, const HarmonicShape& shape, std::span<float> out);

}  // namespace hum::data
