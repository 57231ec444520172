#include "eval/metrics/token_scores.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::eval {
namespace {

// The mean of score(row, target) over all rows.
template <typename Score>
double mean_over_rows(const char* name, std::span<const float> logits, int64_t classes,
                      std::span<const int32_t> targets, const Score& score) {
  HUM_REQUIRE(classes > 0 && std::ssize(logits) == classes * std::ssize(targets),
              "{}: {} logits are not {} rows of {}", name, logits.size(), targets.size(), classes);
  double sum = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    HUM_REQUIRE(targets[i] >= 0 && targets[i] < classes, "{}: target {} of {} classes", name,
                targets[i], classes);
    const auto width = static_cast<size_t>(classes);
    sum += score(logits.subspan(i * width, width), static_cast<size_t>(targets[i]));
  }
  return targets.empty() ? 0 : sum / static_cast<double>(targets.size());
}

}  // namespace

double top_k_accuracy(std::span<const float> logits, int64_t classes,
                      std::span<const int32_t> targets, int64_t k) {
  return mean_over_rows(
      "top_k_accuracy", logits, classes, targets, [&](std::span<const float> row, size_t target) {
        const float own = row[target];
        // Not x > own, which would count a NaN as right.
        return std::ranges::count_if(row, [&](float x) { return !(x <= own); }) < k ? 1.0 : 0.0;
      });
}

double mean_cross_entropy(std::span<const float> logits, int64_t classes,
                          std::span<const int32_t> targets) {
  return mean_over_rows("mean_cross_entropy", logits, classes, targets,
                        [](std::span<const float> row, size_t target) {
                          const double largest = std::ranges::max(row);
                          double sum = 0;
                          for (const float x : row) sum += std::exp(x - largest);
                          return std::log(sum) + largest - row[target];
                        });
}

}  // namespace hum::eval
