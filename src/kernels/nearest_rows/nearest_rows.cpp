#include "kernels/nearest_rows/nearest_rows.h"

#include "base/error.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "kernels/table.h"

namespace hum::kernels {

using graph::DType;
using graph::Value;
using graph::Values;

Value nearest_rows(const Value& x, const Value& table, const Value& offsets,
                   std::source_location where) {
  const bool floats =
      x.dtype() == DType::kF32 && table.dtype() == DType::kF32 && offsets.dtype() == DType::kF32;
  const bool fits = floats && x.rank() == 2 && table.rank() == 2 && x.size(1) == table.size(1) &&
                    offsets.dims() == graph::Dims{table.size(0)};
  if (!fits) {
    fail(ExitCode::kFailure,
         fmt::format("nearest_rows: x {}, table {} and offsets {} do not fit: want f32 x[N,D], "
                     "table[E,D], offsets[E]",
                     x.shape(), table.shape(), offsets.shape()),
         "", where);
  }
  return graph::custom_call(
      kNearestRowsKernel.call.name, Values{x, table, offsets}, {},
      [&](std::span<const Value> in) {
        const Value inner = graph::dot_general(
            in[0], in[1], {.lhs_contracting = {1}, .rhs_contracting = {1}}, DType::kF32, where);
        return Values{graph::argmax(inner - in[2], 1)};
      },
      {}, where)[0];
}

}  // namespace hum::kernels
