// Convolutions over time and their transposes, as products of shifted rows in one pass, without
// building the matrix of windows. The gradient for the input is the same kernel in the opposite
// direction.
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

// The custom calls, for kernels/table.cpp. Settings: stride, dilation, padding_low.
struct Kernel;
// (x[B,T,I], kernel[K,I,O]) -> y[B,T',O]: y[t] += x[t stride + k dilation - padding_low] kernel[k]
extern const Kernel kConv1dKernel;
// The same: y[t stride + k dilation - padding_low] += x[t] kernel[k]
extern const Kernel kConvTranspose1dKernel;

}  // namespace hum::kernels
