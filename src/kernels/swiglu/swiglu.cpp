#include "kernels/swiglu/swiglu.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/activations.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

Value plain(const Value& x) {
  graph::Dims dims(x.dims().begin(), x.dims().end() - 2);
  dims.push_back(x.size(-1));
  const auto half = [&](int64_t index) {
    const Value part = graph::slice_in_dim(x, x.rank() - 2, index, index + 1);
    return graph::convert(graph::reshape(part, dims), DType::kF32);
  };
  return graph::convert(graph::silu(half(0)) * half(1), x.dtype());
}

Values plain_gradient(const Value& x, const Value& dy) {
  return graph::pullback(Values{plain(x)}, Values{dy}, Values{x});
}

}  // namespace

Value swiglu(const Value& x, std::source_location where) {
  if (!graph::is_float(x.dtype()) || x.rank() < 2 || x.size(-2) != 2) {
    fail(ExitCode::kFailure, fmt::format("swiglu: {} is not [..., 2, F] of floats", x.shape()), "",
         where);
  }
  const auto vjp = [where](std::span<const Value> inputs, std::span<const Value>,
                           std::span<const Value> cotangents) {
    return graph::custom_call(
        kSwigluGradKernel.call.name, Values{inputs[0], cotangents[0]}, {},
        [](std::span<const Value> in) { return plain_gradient(in[0], in[1]); }, {}, where);
  };
  return graph::custom_call(
      kSwigluKernel.call.name, Values{x}, {},
      [](std::span<const Value> in) { return Values{plain(in[0])}; }, {.vjp = vjp}, where)[0];
}

}  // namespace hum::kernels
