// Rotary positions in one pass over memory, and their gradient too. XLA recomputes sine and cosine
// for every element of every head.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// Turns elements (i, i + h) of each of the first `members` heads of every group by the angles whose
// cosines and sines are given, in f32; other heads and elements stay. The waves have no gradient.
// B batch, T positions, G groups, M heads of a group, d head size.
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
