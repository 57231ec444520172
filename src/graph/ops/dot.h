// Matrix products.
#pragma once

#include <optional>
#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// The dims of the two sides that are multiplied and summed (contracting) or matched (batch): entry
// i of one list corresponds to entry i of the other.
struct DotDims {
  Dims lhs_batch = {};
  Dims rhs_batch = {};
  Dims lhs_contracting = {};
  Dims rhs_contracting = {};
};

// Sums products over the contracting dims, always in f32: f32 operands are multiplied at full
// precision (no TF32), bf16 x bf16 is exact. `result` f32 or bf16 rounds once at the end; default:
// the operands' type.
// Shapes: batch dims, then lhs's other dims, then rhs's other dims, each in their order.
// Throws if operand types differ or are not floats, or sizes of paired dims differ.
Value dot_general(const Value& lhs, const Value& rhs, DotDims dims,
                  std::optional<DType> result = {},
                  std::source_location where = std::source_location::current());

struct MatmulOptions {
  // Swaps the last two dims of a side first.
  bool transpose_lhs = false;
  bool transpose_rhs = false;
  std::optional<DType> result = {};
};

// lhs[..., m, k] x rhs[..., k, n] -> [..., m, n]; leading dims broadcast as in numpy. A matrix rhs
// applies to every row of lhs, which may then have any rank of at least 1.
Value matmul(const Value& lhs, const Value& rhs, MatmulOptions options = {},
             std::source_location where = std::source_location::current());

}  // namespace hum::graph
