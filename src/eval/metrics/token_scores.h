// Scores of a language model's logits for the true tokens: top-k accuracy and cross-entropy.
#pragma once

#include <cstdint>
#include <span>

namespace hum::eval {

// The share of rows whose target has fewer than k larger logits. 0 without rows.
// Shapes: logits [n, classes], targets [n]. Throws: kFailure when the sizes do not match or a
// target is not a class.
double top_k_accuracy(std::span<const float> logits, int64_t classes,
                      std::span<const int32_t> targets, int64_t k);

// The mean of -log softmax(row)[target], in nats. 0 without rows. Shapes and errors as above.
double mean_cross_entropy(std::span<const float> logits, int64_t classes,
                          std::span<const int32_t> targets);

}  // namespace hum::eval
