// The custom call of matmul, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

extern const pjrt::KernelRow kMatmulRow;

// Whether the kernel runs this call here, faster than plain ops do.
bool matmul_available(const graph::Node& node);

}  // namespace hum::kernels
