// Rotary positions in one pass over memory; the gradient is one pass too. XLA recomputes sine and
// cosine for every element of every head.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// Rotates elements (i, i + h) of the first `members` heads of every group by the angles whose
// cosines and sines `waves` holds, in f32. Other heads and elements are unchanged. `waves` has no
// gradient.
// B batch, T positions, G groups, M heads per group, d head size.
// Shapes: x[B,T,G,M,d], f32 or bf16; waves f32[T,2,h], cosines, then sines, 2 h <= d -> x's.
// Throws: other shapes or types.
// Source: Su et al. 2021, "RoFormer".
graph::Value rotate_heads(const graph::Value& x_BTGMd, const graph::Value& waves_T2h,
                          int64_t members,
                          std::source_location where = std::source_location::current());

// The custom call, for kernels/table.cpp. Setting: members.
struct Kernel;
// (x[B,T,G,M,d], waves f32[T,2,h]) -> y[B,T,G,M,d]
extern const Kernel kRotateHeadsKernel;

}  // namespace hum::kernels
