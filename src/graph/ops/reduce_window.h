// Sums and maxima over sliding windows: pooling.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// One number per dim. Defaults: strides 1, padding 0.
struct WindowOptions {
  Dims size;
  Dims strides = {};
  Dims padding_low = {};
  Dims padding_high = {};
};

// The sum or maximum of each window of x; padding counts as 0 for sums and as -inf for maxima.
// Equal maxima share the gradient. bf16 sums are computed in f32 and rounded once.
// Shapes: the result's size is (padded - size) / stride + 1. x: f32 or bf16.
Value reduce_window_sum(const Value& x, WindowOptions options,
                        std::source_location where = std::source_location::current());
Value reduce_window_max(const Value& x, WindowOptions options,
                        std::source_location where = std::source_location::current());

}  // namespace hum::graph
