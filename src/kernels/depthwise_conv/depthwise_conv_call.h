// The custom calls of depthwise_conv, for the kernel table. Settings: dilation, padding_low.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[B,T,C], kernel f32[K,C], bias f32[C]) -> y[B,T',C]
extern const pjrt::KernelRow kDepthwiseConvRow;
// (x, kernel, dy[B,T',C]) -> (dx, dkernel f32[K,C], dbias f32[C])
extern const pjrt::KernelRow kDepthwiseConvGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool depthwise_conv_available(const graph::Node& node);

}  // namespace hum::kernels
