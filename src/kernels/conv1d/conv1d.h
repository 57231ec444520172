// Convolutions over time and their transposes as products of shifted rows, in one pass and without
// the matrix of windows; the gradient to the input is the same kernel the other way round.
//
// B batch, T time, K taps, I / O input / output channels.
#pragma once

#include <source_location>

#include "graph/ops/convolution.h"
#include "graph/value.h"

namespace hum::kernels {

// graph::conv1d with f32 sums, in x's type. Groups are left to plain ops.
// Shapes, throws: those of graph::conv1d.
graph::Value conv1d(const graph::Value& x_BTI, const graph::Value& kernel_KIO,
                    const graph::Conv1dOptions& options = {},
                    std::source_location where = std::source_location::current());

// graph::conv_transpose1d, likewise.
graph::Value conv_transpose1d(const graph::Value& x_BTI, const graph::Value& kernel_KIO,
                              const graph::Conv1dOptions& options = {},
                              std::source_location where = std::source_location::current());

}  // namespace hum::kernels
