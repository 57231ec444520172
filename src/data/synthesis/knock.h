// A knock on the table, a step, a click: a tone that dies away at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "data/synthesis/timing.h"

namespace hum::data {

// Adds a knock that decays by a factor of e in three periods, cut off after six times that.
inline void add_knock(double at_s, double hz, double peak, std::span<float> out) {
  const double decay_s = 3 / hz;
  const int64_t first = sample_of(at_s);
  const int64_t last = std::min(std::ssize(out), first + sample_of(6 * decay_s));
  for (int64_t i = first; i < last; ++i) {
    const double time_s = static_cast<double>(i - first) / kSampleRate;
    out[static_cast<size_t>(i)] += static_cast<float>(peak * std::exp(-time_s / decay_s) *
                                                      std::sin(2 * std::numbers::pi * hz * time_s));
  }
}

}  // namespace hum::data
