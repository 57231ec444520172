// Order statistics of a list of numbers.
#pragma once

#include <span>
#include <vector>

namespace hum {

// Interpolates linearly between neighbours, as numpy does. `sorted` must not be empty; share is
// clamped to 0..1.
double quantile(std::span<const double> sorted, double share);

// Needs one number or more. For an even count, the mean of the middle two.
double median(std::vector<double> values);

}  // namespace hum
