// Matrix product on oneDNN where that is faster; its gradient is two more matrix products.
#pragma once

#include <optional>
#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

struct MatmulOptions {
  // lhs's last dim becomes the rows of the result, and all its leading dims are contracted with
  // rhs's leading dims: the gradient of a weight.
  bool transpose_lhs = false;
  // rhs is [n, k], as PyTorch stores weights.
  bool transpose_rhs = false;
  // f32, or bf16 when the operands are; absent: the operands' type.
  std::optional<graph::DType> result = {};
};

// Sums are f32 whatever the types.
// Shapes: lhs[..., k] x rhs[k, n] -> [..., n]; transpose_rhs: rhs[n, k];
// transpose_lhs: lhs[..., m] x rhs[..., n] -> [m, n], or lhs[k, m] x rhs[n, k] with both.
// Throws: other ranks, sizes that differ, types that differ or are not floats.
graph::Value matmul(const graph::Value& lhs, const graph::Value& rhs, MatmulOptions options = {},
                    std::source_location where = std::source_location::current());

// The custom call, for kernels/table.cpp. Settings: transpose_a, transpose_b.
struct Kernel;
// (a, b) -> op(a) op(b), row-major matrices
extern const Kernel kMatmulKernel;

}  // namespace hum::kernels
