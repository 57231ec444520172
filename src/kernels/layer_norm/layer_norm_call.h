// The custom calls of layer_norm and rms_norm, for the kernel table. Both forms are one kernel: rms
// leaves the mean in and has a bias of zeros.
#pragma once

#include "graph/value.h"
#include "pjrt/ffi_registry.h"

namespace hum::kernels {

// (x[..., C], scale f32[C], bias f32[C]) -> y; settings: epsilon, rms.
extern const pjrt::KernelRow kLayerNormRow;
// (x[..., C], scale f32[C], dy) -> (dx, dscale f32[C], dbias f32[C]); settings: epsilon, rms.
extern const pjrt::KernelRow kLayerNormGradRow;

// Whether the kernel, either of them, gains on plain ops here.
bool layer_norm_available(const graph::Node& node);

}  // namespace hum::kernels
