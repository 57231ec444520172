// Adds a bias and applies GELU in one pass over memory; the gradient is one pass too.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// gelu_new(x + bias): the tanh form, computed in f32, returned in x's type.
// Shapes: x[..., C], f32 or bf16; bias[C], any float.
// Throws: other shapes.
graph::Value bias_gelu(const graph::Value& x, const graph::Value& bias,
                       std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp.
struct Kernel;
// (x[..., C], bias f32[C]) -> y
extern const Kernel kBiasGeluKernel;
// (x[..., C], bias f32[C], dy) -> (dx, dbias f32[C])
extern const Kernel kBiasGeluGradKernel;

}  // namespace hum::kernels
