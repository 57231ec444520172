// The loss of a language model's last layer without storing its logits: they are computed for a few
// rows at a time, in the forward pass and again in the backward pass.
#pragma once

#include <cstdint>
#include <source_location>

#include "graph/value.h"

namespace hum::nn {

// The number of rows, a divisor of `rows`, whose logits (f32) take at most 64 MB.
int64_t rows_at_once(int64_t rows, int64_t vocabulary);

// -log softmax(x weight^T)[target] of each row, in f32. The gradient of weight is summed in f32.
// Costs one more product than keeping the logits. Shapes: x_NW, weight_VW f32, targets i32[N] ->
// f32[N]; rows divides N. Throws on other shapes.
graph::Value projected_cross_entropy(const graph::Value& x_NW, const graph::Value& weight_VW,
                                     const graph::Value& targets_N, int64_t rows,
                                     std::source_location where = std::source_location::current());

}  // namespace hum::nn
