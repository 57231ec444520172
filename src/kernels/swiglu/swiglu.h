// The gated activation of Llama's feed-forward layers in one pass over memory; the gradient is one
// pass too.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// silu(gate) * up with silu(x) = x / (1 + exp(-x)), computed in f32, returned in the input's type.
// Gate and up are stored side by side, as one product yields them.
// Shapes: x[..., 2, F], f32 or bf16: gate, then up -> [..., F]. Throws: other shapes or types.
// Source: Shazeer 2020, "GLU variants improve transformer".
graph::Value swiglu(const graph::Value& x,
                    std::source_location where = std::source_location::current());

// The custom calls, for kernels/table.cpp.
struct Kernel;
// x[..., 2, F] -> y[..., F]
extern const Kernel kSwigluKernel;
// (x, dy) -> dx
extern const Kernel kSwigluGradKernel;

}  // namespace hum::kernels
