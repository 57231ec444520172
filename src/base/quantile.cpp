#include "base/quantile.h"

#include <algorithm>

#include "base/error.h"

namespace hum {

double quantile(std::span<const double> sorted, double share) {
  HUM_REQUIRE(!sorted.empty(), "quantile: the list is empty");
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

}  // namespace hum
