// Periods of band-limited waves, for oscillators that do not alias.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/synthesizer/preset.h"

namespace hum::data::internal {

inline constexpr int kSynthRate = 44100;

// One period of a wave for each of about 30 numbers of harmonics, a quarter apart. Linear
// interpolation adds -66 dB of the fundamental to a saw at 33 Hz, and less to higher ones.
class Wavetable {
 public:
  static constexpr int kBits = 13, kSize = 1 << kBits;
  static constexpr double kHighest_hz = 20000;  // of harmonics

  // amplitudes[k]: that of sin(2 pi k t); amplitudes[0] is not used.
  explicit Wavetable(std::span<const double> amplitudes);

  // A period and its first sample again, with as many harmonics as lie below kHighest_hz for a tone
  // of `hz`. The same pointer for the same number of harmonics; a silent period above kHighest_hz.
  const float* period(double hz) const;

 private:
  std::vector<int> harmonics_;  // of each row
  std::vector<float> samples_;  // [rows][kSize + 1]
};

// kPulse is the difference of two saws, so its table is that of kSaw.
const Wavetable& wavetable(Wave wave);

// The wave at a phase, of which 2^32 are a period.
inline float read(const float* period, uint32_t phase) {
  constexpr int kShift = 32 - Wavetable::kBits;
  constexpr float kScale = 1.0F / (1U << kShift);
  const uint32_t place = phase >> kShift;
  const float part = static_cast<float>(phase & ((1U << kShift) - 1)) * kScale;
  return period[place] + part * (period[place + 1] - period[place]);
}

// A number of periods as a phase, for steps and offsets of either sign.
inline uint32_t phase_of(double periods) {
  return static_cast<uint32_t>(static_cast<int64_t>(periods * 4294967296.0));
}

}  // namespace hum::data::internal
