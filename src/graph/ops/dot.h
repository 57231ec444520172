// Matrix products.
#pragma once

#include <optional>
#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// Which dims of the two sides are multiplied together and summed (contracting), and which are kept
// side by side (batch): entry i of one list belongs to entry i of the other.
struct DotDims {
  Dims lhs_batch = {};
  Dims rhs_batch = {};
  Dims lhs_contracting = {};
  Dims rhs_contracting = {};
};

// Products summed over the contracting dims, in f32 whatever the types: f32 operands are multiplied
// at full precision (no TF32), bf16 x bf16 is exact. `result` f32 or bf16 rounds once at the end;
// absent: the operands' type.
// Shapes: batch dims, then lhs's other dims, then rhs's other dims, each in their order.
// Throws: operand types differ or are no floats; sizes of paired dims differ.
Value dot_general(const Value& lhs, const Value& rhs, DotDims dims,
                  std::optional<DType> result = {},
                  std::source_location where = std::source_location::current());

struct MatmulOptions {
  // The last two dims of a side are swapped first.
  bool transpose_lhs = false;
  bool transpose_rhs = false;
  std::optional<DType> result = {};
};

// lhs[..., m, k] x rhs[..., k, n] -> [..., m, n]; leading dims broadcast as in numpy. A matrix on
// the right applies to every row of lhs, whose rank is then free (at least 1).
Value matmul(const Value& lhs, const Value& rhs, MatmulOptions options = {},
             std::source_location where = std::source_location::current());

}  // namespace hum::graph
