// Test signals: a noisy sweep, which tools/golden/audio.py reproduces, and a pure tone.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace hum::audio {

inline std::vector<float> test_signal(int64_t samples, int rate_hz) {
  std::vector<float> result;
  uint32_t state = 1;
  for (int64_t i = 0; i < samples; ++i) {
    state = state * 1664525u + 1013904223u;
    const double noise = (state >> 8) / 16777216.0 - 0.5;
    const double t = static_cast<double>(i) / rate_hz;
    const double phase = 2 * std::numbers::pi * (110 * t + 900 * t * t);
    result.push_back(static_cast<float>(0.4 * std::sin(phase) + 0.05 * noise));
  }
  return result;
}

inline std::vector<float> tone(double hz, double seconds, int rate_hz, double amplitude = 0.5) {
  std::vector<float> result(static_cast<size_t>(seconds * rate_hz));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<float>(
        amplitude * std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz));
  }
  return result;
}

}  // namespace hum::audio
