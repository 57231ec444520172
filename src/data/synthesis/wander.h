// A slow irregularity of pitch or tuning.
#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/rng.h"

namespace hum::data {

// A sum of three sines of random frequency and phase; standard deviation about 1.
class Wander {
 public:
  Wander(Rng& rng, double slowest_hz, double fastest_hz) {
    for (auto& wave : waves_) wave = {rng.uniform(slowest_hz, fastest_hz), rng.uniform(0, 1)};
  }
  double at(double time_s) const {
    double sum = 0;
    for (const auto& [hz, phase] : waves_) {
      sum += std::sin(2 * std::numbers::pi * (hz * time_s + phase));
    }
    return sum * std::sqrt(2.0 / 3);
  }

 private:
  std::array<std::pair<double, double>, 3> waves_;
};

}  // namespace hum::data
