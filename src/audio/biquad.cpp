// Source: the cookbook of Robert Bristow-Johnson.
#include "audio/biquad.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/loudness.h"

namespace hum::audio {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

}  // namespace

Biquad cut_filter(double hz, int rate_hz, bool passes_low) {
  const double w = kTwoPi * std::min(hz, 0.49 * rate_hz) / rate_hz;
  const double alpha = std::sin(w) / std::numbers::sqrt2, cosine = std::cos(w);
  const double b1 = passes_low ? 1 - cosine : -(1 + cosine), b0 = std::abs(b1) / 2;
  return {{b0, b1, b0}, {1 + alpha, -2 * cosine, 1 - alpha}};
}

Biquad shelf_filter(double hz, int rate_hz, double gain_db, bool is_low) {
  const double w = kTwoPi * hz / rate_hz, gain = from_db(gain_db / 2);
  const double cosine = is_low ? std::cos(w) : -std::cos(w);
  const double slope = std::numbers::sqrt2 * std::sqrt(gain) * std::sin(w);
  const double up = gain + 1, down = gain - 1, sign = is_low ? 1 : -1;
  return {
      {gain * (up - down * cosine + slope), sign * 2 * gain * (down - up * cosine),
       gain * (up - down * cosine - slope)},
      {up + down * cosine + slope, sign * -2 * (down + up * cosine), up + down * cosine - slope}};
}

Biquad peak_filter(double hz, int rate_hz, double gain_db, double q) {
  const double w = kTwoPi * hz / rate_hz, gain = from_db(gain_db / 2);
  const double alpha = std::sin(w) / (2 * q), cosine = std::cos(w);
  return {{1 + alpha * gain, -2 * cosine, 1 - alpha * gain},
          {1 + alpha / gain, -2 * cosine, 1 - alpha / gain}};
}

void filter(const Biquad& biquad, std::span<float> samples, int channels) {
  const auto& [b, a] = biquad;
  const auto step = static_cast<size_t>(channels);
  for (size_t channel = 0; channel < step; ++channel) {
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (size_t i = channel; i < samples.size(); i += step) {
      const double x = samples[i];
      const double y = (b[0] * x + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2) / a[0];
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = y;
      samples[i] = static_cast<float>(y);
    }
  }
}

}  // namespace hum::audio
