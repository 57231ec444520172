// The custom calls of swiglu, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// x[..., 2, F] -> y[..., F]
extern const pjrt::KernelRow kSwigluRow;
// (x, dy) -> dx
extern const pjrt::KernelRow kSwigluGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool swiglu_available(const graph::Node& node);

}  // namespace hum::kernels
