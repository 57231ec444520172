#include "eval/metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "base/quantile.h"
#include "base/rng.h"

namespace hum::eval {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Bisects to the last bit; exact at both ends.
double normal_quantile(double p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (p <= 0) return -kInfinity;
  if (p >= 1) return kInfinity;
  double low = -40, high = 40;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<int32_t> all_clips(int64_t clips) {
  std::vector<int32_t> numbers(static_cast<size_t>(clips));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// The sorted statistics of all resamples.
std::vector<double> sorted_statistics(int64_t clips, std::span<const int32_t> resamples,
                                      const Statistic& statistic) {
  const auto size = static_cast<size_t>(clips);
  HUM_REQUIRE(!resamples.empty() && resamples.size() % size == 0,
              "bootstrap: {} drawn numbers are not resamples of {} clips", resamples.size(), clips);
  std::vector<double> values;
  for (size_t at = 0; at < resamples.size(); at += size) {
    values.push_back(statistic(resamples.subspan(at, size)));
  }
  std::ranges::sort(values);
  return values;
}

// Skew of the statistic over leave-one-out samples (jackknife).
double acceleration(int64_t clips, const Statistic& statistic) {
  std::vector<double> without;
  for (int64_t left_out = 0; left_out < clips; ++left_out) {
    auto numbers = all_clips(clips);
    numbers.erase(numbers.begin() + left_out);
    without.push_back(statistic(numbers));
  }
  const auto n = static_cast<double>(clips);
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
  double squares = 0, cubes = 0;
  for (const double value : without) {
    const double influence = (n - 1) * (mean - value);
    squares += influence * influence / (n * n);
    cubes += influence * influence * influence / (n * n * n);
  }
  return squares == 0 ? 0 : cubes / (6 * std::pow(squares, 1.5));
}

}  // namespace

std::vector<int32_t> draw_resamples(int64_t clips, const BootstrapOptions& options) {
  Rng rng(static_cast<uint64_t>(options.seed), "bootstrap", static_cast<uint64_t>(clips));
  std::vector<int32_t> numbers(static_cast<size_t>(options.resamples * clips));
  for (int32_t& number : numbers) number = static_cast<int32_t>(rng.integer(0, clips - 1));
  return numbers;
}

Interval percentile_interval(int64_t clips, std::span<const int32_t> resamples,
                             const Statistic& statistic, double confidence) {
  if (clips < 2) return {clips == 0 ? kNan : statistic(all_clips(clips)), kNan, kNan};
  const auto values = sorted_statistics(clips, resamples, statistic);
  return {statistic(all_clips(clips)), quantile(values, (1 - confidence) / 2),
          quantile(values, (1 + confidence) / 2)};
}

Interval bca_interval(int64_t clips, std::span<const int32_t> resamples, const Statistic& statistic,
                      double confidence) {
  if (clips < 2) return {clips == 0 ? kNan : statistic(all_clips(clips)), kNan, kNan};
  const auto values = sorted_statistics(clips, resamples, statistic);
  const double own = statistic(all_clips(clips));
  if (values.front() == values.back()) return {own, values.front(), values.back()};
  const auto [first, last] = std::ranges::equal_range(values, own);
  const auto below = static_cast<double>(first - values.begin());
  const auto up_to = static_cast<double>(last - values.begin());
  const double bias = normal_quantile((below + up_to) / (2 * static_cast<double>(values.size())));
  const double skew = acceleration(clips, statistic);
  auto corrected = [&](double p) {
    if (std::isinf(bias)) return bias > 0 ? 1.0 : 0.0;
    const double z = bias + normal_quantile(p);
    return normal_cdf(bias + z / (1 - skew * z));
  };
  return {own, quantile(values, corrected((1 - confidence) / 2)),
          quantile(values, corrected((1 + confidence) / 2))};
}

Interval mean_interval(std::span<const double> values, std::span<const int32_t> resamples,
                       double confidence) {
  return bca_interval(
      std::ssize(values), resamples,
      [&](std::span<const int32_t> clips) {
        double sum = 0;
        for (const int32_t clip : clips) sum += values[static_cast<size_t>(clip)];
        return sum / static_cast<double>(clips.size());
      },
      confidence);
}

}  // namespace hum::eval
