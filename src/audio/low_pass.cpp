#include "audio/low_pass.h"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/error.h"

namespace hum::audio {
namespace {

constexpr double kAttenuation_db = 70;

// The window's value at -1 <= x <= 1, the ends of the filter.
double kaiser(double x) {
  constexpr double kBeta = 0.1102 * (kAttenuation_db - 8.7);
  return std::cyl_bessel_i(0, kBeta * std::sqrt(1 - x * x)) / std::cyl_bessel_i(0, kBeta);
}

// The filter is symmetric: its middle tap, then those to the right. They sum up to 1, so that the
// gain at 0 Hz is 1.
std::vector<double> half_filter(int rate_hz, double cutoff_hz) {
  const double transition = 2 * std::numbers::pi * kLowPassTransition_hz / rate_hz;
  const auto length = static_cast<int64_t>(
      std::ceil((kAttenuation_db - 7.95) / (2 * 2.285 * transition)));  // to one side
  const double edge = (cutoff_hz + kLowPassTransition_hz / 2) / rate_hz;
  std::vector<double> taps;
  double sum = 0;
  for (int64_t i = 0; i <= length; ++i) {
    const auto at = static_cast<double>(i);
    const double angle = std::numbers::pi * at;
    const double ideal = i == 0 ? 2 * edge : std::sin(2 * angle * edge) / angle;
    taps.push_back(ideal * kaiser(at / static_cast<double>(length)));
    sum += (i == 0 ? 1 : 2) * taps.back();
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

}  // namespace

std::vector<float> low_pass(std::span<const float> samples, int rate_hz, double cutoff_hz) {
  HUM_REQUIRE(cutoff_hz > 0 && cutoff_hz + kLowPassTransition_hz < rate_hz / 2.0,
              "low_pass: a cutoff at {} Hz does not fit a rate of {} Hz", cutoff_hz, rate_hz);
  const auto taps = half_filter(rate_hz, cutoff_hz);
  const auto count = std::ssize(samples);
  const auto sample = [&](int64_t i) -> double {
    return i < 0 || i >= count ? 0 : samples[static_cast<size_t>(i)];
  };
  std::vector<float> result(samples.size());
  for (int64_t i = 0; i < count; ++i) {
    double sum = taps[0] * sample(i);
    for (int64_t k = 1; k < std::ssize(taps); ++k) {
      sum += taps[static_cast<size_t>(k)] * (sample(i - k) + sample(i + k));
    }
    result[static_cast<size_t>(i)] = static_cast<float>(sum);
  }
  return result;
}

}  // namespace hum::audio
