#include "kernels/embedding/embedding.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "kernels/table.h"

namespace hum::kernels {

using graph::DType;
using graph::Value;
using graph::Values;

Value embedding(const Value& table, const Value& ids, std::source_location where) {
  const bool fits = table.rank() == 2 && graph::is_float(table.dtype()) &&
                    (ids.dtype() == DType::kI32 || ids.dtype() == DType::kU32);
  if (!fits) {
    fail(ExitCode::kFailure,
         fmt::format("embedding: table {} and ids {} do not fit: want table[V,D] of floats, ids of "
                     "i32 or u32",
                     table.shape(), ids.shape()),
         "", where);
  }
  const auto vjp = [shape = table.shape(), where](std::span<const Value> inputs,
                                                  std::span<const Value>,
                                                  std::span<const Value> cotangents) {
    graph::Attributes attributes;
    attributes.set("rows", shape.dims[0]);
    const Value gradient = graph::custom_call(
        kEmbeddingGradKernel.call.name, Values{inputs[1], cotangents[0]}, attributes,
        [&](std::span<const Value> in) {
          return Values{graph::scatter_add(graph::constant(0, shape), in[0], in[1])};
        },
        {}, where)[0];
    return Values{gradient, Value()};
  };
  return graph::custom_vjp(
      Values{table, ids},
      [&](std::span<const Value> in) { return Values{graph::take(in[0], in[1], 0, where)}; }, vjp,
      where)[0];
}

}  // namespace hum::kernels
