// The custom calls of bias_gelu, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[..., C], bias f32[C]) -> y
extern const pjrt::KernelRow kBiasGeluRow;
// (x[..., C], bias f32[C], dy) -> (dx, dbias f32[C])
extern const pjrt::KernelRow kBiasGeluGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool bias_gelu_available(const graph::Node& node);

}  // namespace hum::kernels
