// Second-order filters: cuts, shelves and peaks.
#pragma once

#include <array>
#include <span>

namespace hum::audio {

// a[0] is not 1: filter() divides by it.
struct Biquad {
  std::array<double, 3> b, a;
};

// Butterworth. Keeps what is below `hz`, or above it.
Biquad cut_filter(double hz, int rate_hz, bool passes_low);
// A gain below `hz`, or above it.
Biquad shelf_filter(double hz, int rate_hz, double gain_db, bool is_low);
// A gain around `hz`; a larger q is narrower.
Biquad peak_filter(double hz, int rate_hz, double gain_db, double q);

// Filters interleaved samples in place, each channel alone.
void filter(const Biquad& biquad, std::span<float> samples, int channels = 1);

}  // namespace hum::audio
