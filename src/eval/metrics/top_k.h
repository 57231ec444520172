// Is the true token among the likeliest?
#pragma once

#include <cstdint>
#include <span>

namespace hum::eval {

// The share of rows whose target has fewer than k larger logits. 0 without rows.
// Shapes: logits [n, classes], targets [n]. Throws: kFailure when the sizes do not fit or a target
// is no class.
double top_k_accuracy(std::span<const float> logits, int64_t classes,
                      std::span<const int32_t> targets, int64_t k);

}  // namespace hum::eval
