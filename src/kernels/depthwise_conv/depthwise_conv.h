// Depthwise convolution over time with its bias in one pass over memory; each half of its gradient
// is one pass too.
//
// B batch, T time, K taps, C channels.
#pragma once

#include <source_location>

#include "graph/ops/convolution.h"
#include "graph/value.h"

namespace hum::kernels {

// graph::depthwise_conv1d(x, kernel) + bias with f32 sums, in x's type.
// Shapes: x[B,T,C], f32 or bf16; kernel[K,C] and bias[C], any float
//   -> [B, T + padding - (K - 1) dilation, C].
// Throws: other shapes.
graph::Value depthwise_conv(const graph::Value& x_BTC, const graph::Value& kernel_KC,
                            const graph::Value& bias_C, const graph::DepthwiseOptions& options,
                            std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp. Settings: dilation, padding_low.
struct Kernel;
// (x[B,T,C], kernel f32[K,C], bias f32[C]) -> y[B,T',C]
extern const Kernel kDepthwiseConvKernel;
// (x, kernel, dy[B,T',C]) -> (dx, dkernel f32[K,C], dbias f32[C])
extern const Kernel kDepthwiseConvGradKernel;

}  // namespace hum::kernels
