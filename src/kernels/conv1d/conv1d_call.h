// The custom calls of conv1d, for the kernel table. Settings: stride, dilation, padding_low.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[B,T,I], kernel[K,I,O]) -> y[B,T',O]: y[t] += x[t stride + k dilation - padding_low] kernel[k]
extern const pjrt::KernelRow kConv1dRow;
// The same: y[t stride + k dilation - padding_low] += x[t] kernel[k]
extern const pjrt::KernelRow kConvTranspose1dRow;

// Whether the kernel, either of them, gains on plain ops here.
bool conv1d_available(const graph::Node& node);

}  // namespace hum::kernels
