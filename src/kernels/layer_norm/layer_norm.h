// Layer normalisation (and its root-mean-square form) in one pass over memory; the gradient is one
// pass too.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// (x - mean) / sqrt(variance + epsilon) * scale + bias over the last dim, computed in f32, returned
// in x's type.
// Shapes: x[..., C], f32 or bf16; scale[C] and bias[C], any float.
// Throws: other shapes.
graph::Value layer_norm(const graph::Value& x, const graph::Value& scale, const graph::Value& bias,
                        double epsilon = 1e-5,
                        std::source_location where = std::source_location::current());

// x / sqrt(mean(x^2) + epsilon) * scale. Source: Zhang and Sennrich 2019, "Root mean square layer
// normalization".
graph::Value rms_norm(const graph::Value& x, const graph::Value& scale, double epsilon = 1e-5,
                      std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp. Both forms are one kernel: rms does not subtract the
// mean and has a zero bias. Settings: epsilon, rms.
struct Kernel;
// (x[..., C], scale f32[C], bias f32[C]) -> y
extern const Kernel kLayerNormKernel;
// (x[..., C], scale f32[C], dy) -> (dx, dscale f32[C], dbias f32[C])
extern const Kernel kLayerNormGradKernel;

}  // namespace hum::kernels
