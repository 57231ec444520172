// The custom call of nearest_rows, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x f32[N,D], table f32[E,D], offsets f32[E]) -> i32[N]
extern const pjrt::KernelRow kNearestRowsRow;

bool nearest_rows_available(const graph::Node& node);

}  // namespace hum::kernels
