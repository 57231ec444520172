// The custom call of rotary positions, for the kernel table. Setting: members.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[B,T,G,M,d], waves f32[T,2,h]) -> y[B,T,G,M,d]
extern const pjrt::KernelRow kRotateHeadsRow;

// Whether the kernel gains on plain ops here.
bool rotate_heads_available(const graph::Node& node);

}  // namespace hum::kernels
