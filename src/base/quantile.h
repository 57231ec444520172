// Order statistics of a list of numbers.
#pragma once

#include <span>
#include <vector>

namespace hum {

// Linear between neighbours, as numpy's. `sorted`: one number or more; share: 0 to 1, clamped.
double quantile(std::span<const double> sorted, double share);

// Of one number or more; of an even count, the mean of the middle two.
double median(std::vector<double> values);

}  // namespace hum
