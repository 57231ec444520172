// Confidence intervals of figures over clips, by resampling the clips.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hum::eval {

struct BootstrapOptions {
  int64_t resamples = 2000;
  double confidence = 0.95;
  int64_t seed = 1;
};

// Draws clip numbers with replacement, the same for the same seed and number of clips.
// Shapes: -> [resamples, clips].
std::vector<int32_t> draw_resamples(int64_t clips, const BootstrapOptions& options);

struct Interval {
  double value = 0;          // of the clips themselves
  double low = 0, high = 0;  // the interval; NaN with fewer than two clips
};

// A figure over clips given by number; repeated numbers count repeatedly.
using Statistic = std::function<double(std::span<const int32_t> clips)>;

// The quantiles (1 - confidence) / 2 and (1 + confidence) / 2 of the statistic over the resamples.
// Shapes: resamples [n, clips]. Source: scipy.stats.bootstrap, method "percentile".
Interval percentile_interval(int64_t clips, std::span<const int32_t> resamples,
                             const Statistic& statistic, double confidence = 0.95);

// The same with quantiles corrected for bias and skew (BCa). If the statistic is equal for all
// resamples, both ends have that value. Source: Efron 1987; scipy.stats.bootstrap, method "BCa".
Interval bca_interval(int64_t clips, std::span<const int32_t> resamples, const Statistic& statistic,
                      double confidence = 0.95);

// BCa of the mean. For two systems on the same clips, use it on their differences: this is the
// paired bootstrap, which is independent of the difficulty of the clips. NaN without values.
Interval mean_interval(std::span<const double> values, std::span<const int32_t> resamples,
                       double confidence = 0.95);

}  // namespace hum::eval
