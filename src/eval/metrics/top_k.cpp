#include "eval/metrics/top_k.h"

#include <algorithm>

#include "base/error.h"

namespace hum::eval {

double top_k_accuracy(std::span<const float> logits, int64_t classes,
                      std::span<const int32_t> targets, int64_t k) {
  HUM_REQUIRE(classes > 0 && std::ssize(logits) == classes * std::ssize(targets),
              "top_k_accuracy: {} logits are not {} rows of {}", logits.size(), targets.size(),
              classes);
  int64_t right = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    HUM_REQUIRE(targets[i] >= 0 && targets[i] < classes, "top_k_accuracy: target {} of {} classes",
                targets[i], classes);
    const auto row = logits.subspan(i * static_cast<size_t>(classes), static_cast<size_t>(classes));
    const float own = row[static_cast<size_t>(targets[i])];
    right += std::ranges::count_if(row, [&](float x) { return x > own; }) < k ? 1 : 0;
  }
  return targets.empty() ? 0 : static_cast<double>(right) / static_cast<double>(targets.size());
}

}  // namespace hum::eval
