// The custom calls of swiglu, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (gate, up) -> y
extern const pjrt::KernelRow kSwigluRow;
// (gate, up, dy) -> (dgate, dup)
extern const pjrt::KernelRow kSwigluGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool swiglu_available(const graph::Node& node);

}  // namespace hum::kernels
