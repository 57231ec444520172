#include "kernels/bias_gelu/bias_gelu.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/activations.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

Value plain(const Value& x, const Value& bias) {
  return graph::convert(graph::gelu_new(graph::convert(x, DType::kF32) + bias), x.dtype());
}

Values plain_gradient(const Value& x, const Value& bias, const Value& dy) {
  return graph::pullback(Values{plain(x, bias)}, Values{dy}, Values{x, bias});
}

}  // namespace

Value bias_gelu(const Value& x, const Value& bias, std::source_location where) {
  if (!graph::is_float(x.dtype()) || x.rank() < 1 || !graph::is_float(bias.dtype()) ||
      bias.dims() != graph::Dims{x.size(-1)}) {
    fail(ExitCode::kFailure,
         fmt::format("bias_gelu: bias {} does not fit the last dim of {}", bias.shape(), x.shape()),
         "", where);
  }
  const auto vjp = [where](std::span<const Value> inputs, std::span<const Value>,
                           std::span<const Value> cotangents) {
    return graph::custom_call(
        kBiasGeluGradKernel.call.name, Values{inputs[0], inputs[1], cotangents[0]}, {},
        [](std::span<const Value> in) { return plain_gradient(in[0], in[1], in[2]); }, {}, where);
  };
  return graph::custom_call(
      kBiasGeluKernel.call.name, Values{x, graph::convert(bias, DType::kF32)}, {},
      [](std::span<const Value> in) { return Values{plain(in[0], in[1])}; }, {.vjp = vjp},
      where)[0];
}

}  // namespace hum::kernels
