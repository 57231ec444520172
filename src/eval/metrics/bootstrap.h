// How sure a figure over clips is: confidence intervals by resampling the clips.
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

// Clip numbers drawn with replacement, the same for the same seed and number of clips.
// Shapes: -> [resamples, clips].
std::vector<int32_t> draw_resamples(int64_t clips, const BootstrapOptions& options);

struct Interval {
  double value = 0;          // of the clips themselves
  double low = 0, high = 0;  // the interval; not a number with fewer than two clips
};

// A figure of some of the clips, given by number, repeated ones as often as they are repeated.
using Statistic = std::function<double(std::span<const int32_t> clips)>;

// The quantiles (1 - confidence) / 2 and (1 + confidence) / 2 of the statistic over the resamples.
// Shapes: resamples [n, clips]. Source: scipy.stats.bootstrap, method "percentile".
Interval percentile_interval(int64_t clips, std::span<const int32_t> resamples,
                             const Statistic& statistic, double confidence = 0.95);

// The same with quantiles corrected for bias and skew (BCa). A statistic that is the same for all
// resamples has that value as both ends. Source: Efron 1987; scipy.stats.bootstrap, method "BCa".
Interval bca_interval(int64_t clips, std::span<const int32_t> resamples, const Statistic& statistic,
                      double confidence = 0.95);

// BCa of the mean. For two systems on the same clips, the mean of their differences: that is the
// paired bootstrap, which does not see how hard the clips are. Not a number without values.
Interval mean_interval(std::span<const double> values, std::span<const int32_t> resamples,
                       double confidence = 0.95);

}  // namespace hum::eval
