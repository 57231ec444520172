// A bank of harmonics whose pitch and level follow control points. The sine, the excitation and the
// synthetic hum all use it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hum::data {

// Samples between two control points: 1/7 of a melody frame.
inline constexpr int kControlSamples = 63;

// Pitch and level at first_sample + i * kControlSamples, linear in between; silent before and
// after.
struct HarmonicVoice {
  int64_t first_sample = 0;  // may be negative: samples before 0 are not written
  std::vector<float> hz;
  std::vector<float> gain;
};

struct HarmonicShape {
  int max_harmonics = 1 << 20;
  double exponent = 0.5;  // harmonic k has amplitude k^-exponent
};

// out += gain * sum over k of k^-exponent sin(k phase), with phase 0 at the first control point and
// continuous from there. Harmonics fade out over the last tenth below half the sample rate, so
// there is no aliasing.
void add_harmonics(const HarmonicVoice& voice, const HarmonicShape& shape, std::span<float> out);

// The same with amplitudes that change: fills amplitudes[k] for k >= 1 at a control point; linear
// in between.
using HarmonicAmplitudes = std::function<void(size_t point, std::span<float> amplitudes)>;
void add_harmonics(const HarmonicVoice& voice, const HarmonicAmplitudes& amplitudes,
                   std::span<float> out);

}  // namespace hum::data
