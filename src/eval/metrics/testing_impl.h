// Shared by the tests of this folder: golden values, the sounds of two_sounds() in
// tools/golden/metrics.py, and the numbers of tools/golden/judging.py.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "audio/test_signal.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/testing/rule.h"

namespace hum::eval::testing {

inline constexpr int kRateHz = 22050;

inline Json golden(const std::string& file, const std::string& key) {
  return read_json(source_folder() / "tests/data/eval" / file).at(key);
}

// drawn() and whole() of tools/golden/judging.py: numbers in [low, high), and integers.
inline std::vector<double> drawn(const std::string& name, size_t count, double low, double high) {
  const auto values = hum::testing::ruled(name, count, low, high);
  return {values.begin(), values.end()};
}
inline std::vector<int> whole(const std::string& name, size_t count, double low, double high) {
  std::vector<int> result;
  for (const double x : drawn(name, count, low, high)) {
    result.push_back(static_cast<int>(std::floor(x)));
  }
  return result;
}

// 1 s.
inline std::vector<float> trembling_sweep() {
  auto sound = audio::test_signal(kRateHz, kRateHz);
  for (size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / kRateHz;
    sound[i] = static_cast<float>(sound[i] * (0.8 + 0.4 * std::sin(10 * std::numbers::pi * t)));
  }
  return sound;
}

// The same sound low-passed, louder, and with a slightly later tremolo.
inline std::vector<float> muffled_sweep() {
  const auto sweep = audio::test_signal(kRateHz, kRateHz);
  std::vector<float> sound(sweep.size());
  for (size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / kRateHz;
    double sum = 0.5 * sweep[i];
    if (i >= 1) sum += 0.3 * sweep[i - 1];
    if (i >= 2) sum += 0.2 * sweep[i - 2];
    sound[i] = static_cast<float>(sum * (1.6 + 0.8 * std::sin(10 * std::numbers::pi * t - 0.7)));
  }
  return sound;
}

}  // namespace hum::eval::testing
