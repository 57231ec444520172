// The custom calls of polar, for the kernel table.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[..., 2F]) -> (real f32[..., F], imag f32[..., F])
extern const pjrt::KernelRow kPolarRow;
// (x[..., 2F], real, imag, dreal, dimag: f32[..., F]) -> dx
extern const pjrt::KernelRow kPolarGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool polar_available(const graph::Node& node);

}  // namespace hum::kernels
