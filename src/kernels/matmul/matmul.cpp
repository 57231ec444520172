#include "kernels/matmul/matmul.h"

#include <numeric>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::Dims;
using graph::DType;
using graph::Value;
using graph::Values;

// op(a) op(b) of two matrices; the custom call itself.
struct Flags {
  bool transpose_a, transpose_b;
};

Value call(const Value& a, const Value& b, Flags flags, DType result, std::source_location where);

// c = op(a) op(b). Each cotangent is a product of dc with the other side, laid out so that no
// operand is ever transposed in memory.
Values product_vjp(const Value& a, const Value& b, Flags flags, const Value& dc,
                   std::source_location where) {
  const auto [ta, tb] = flags;
  const Value narrow = graph::convert(dc, a.dtype());
  const Value da = ta ? call(b, narrow, {tb, true}, a.dtype(), where)
                      : call(narrow, b, {false, !tb}, a.dtype(), where);
  const Value db = tb ? call(narrow, a, {true, ta}, b.dtype(), where)
                      : call(a, narrow, {!ta, false}, b.dtype(), where);
  return {da, db};
}

Value call(const Value& a, const Value& b, Flags flags, DType result, std::source_location where) {
  const auto fallback = [&](std::span<const Value> inputs) -> Values {
    return {graph::dot_general(inputs[0], inputs[1],
                               {.lhs_contracting = {flags.transpose_a ? 0 : 1},
                                .rhs_contracting = {flags.transpose_b ? 1 : 0}},
                               result, where)};
  };
  graph::Attributes settings;
  settings.set("transpose_a", flags.transpose_a);
  settings.set("transpose_b", flags.transpose_b);
  const auto vjp = [flags, where](std::span<const Value> inputs, std::span<const Value>,
                                  std::span<const Value> cotangents) {
    return product_vjp(inputs[0], inputs[1], flags, cotangents[0], where);
  };
  return graph::custom_call(kMatmulKernel.call.name, Values{a, b}, settings, fallback, {.vjp = vjp},
                            where)[0];
}

// [..., n] -> [product of the others, n]
Value collapse_leading(const Value& x, std::source_location where) {
  if (x.rank() == 2) return x;
  return graph::reshape(x, {x.size(-1) == 0 ? 0 : x.shape().elements() / x.size(-1), x.size(-1)},
                        where);
}

void require(bool ok, const Value& lhs, const Value& rhs, MatmulOptions options,
             std::string_view what, std::source_location where) {
  if (ok) return;
  fail(ExitCode::kFailure,
       fmt::format("matmul: {}: lhs {}{}, rhs {}{}", what, lhs.shape(),
                   options.transpose_lhs ? " transposed" : "", rhs.shape(),
                   options.transpose_rhs ? " transposed" : ""),
       "", where);
}

}  // namespace

Value matmul(const Value& lhs, const Value& rhs, MatmulOptions options,
             std::source_location where) {
  const auto [transpose_lhs, transpose_rhs, result] = options;
  const auto check = [&](bool ok, std::string_view what) {
    require(ok, lhs, rhs, options, what, where);
  };
  check(graph::is_float(lhs.dtype()) && lhs.dtype() == rhs.dtype(),
        "operands must be floats of one type");
  check(lhs.rank() >= 2 && rhs.rank() >= 2, "operands need at least two dims");
  // Leading dims are rows: kept when lhs is plain, contracted on both sides when it is transposed.
  const bool sums_rows = transpose_lhs && !transpose_rhs;
  check(rhs.rank() == 2 || sums_rows, "rhs must be a matrix");
  check(lhs.rank() == 2 || !transpose_lhs || sums_rows, "lhs must be a matrix");
  if (sums_rows) {
    const Dims lhs_rows(lhs.dims().begin(), lhs.dims().end() - 1);
    const Dims rhs_rows(rhs.dims().begin(), rhs.dims().end() - 1);
    check(lhs_rows == rhs_rows, "leading dims differ");
  } else {
    check(lhs.size(transpose_lhs ? 0 : -1) == rhs.size(transpose_rhs ? 1 : 0),
          "contracting sizes differ");
  }
  const DType type = result.value_or(lhs.dtype());
  check(type == DType::kF32 || type == lhs.dtype(), "the result must be f32 or the operands' type");

  const Value product = call(collapse_leading(lhs, where), collapse_leading(rhs, where),
                             {transpose_lhs, transpose_rhs}, type, where);
  if (transpose_lhs || lhs.rank() == 2) return product;
  Dims dims = lhs.dims();
  dims.back() = product.size(1);
  return graph::reshape(product, dims, where);
}

}  // namespace hum::kernels
