#include "kernels/swiglu/swiglu.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/activations.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "kernels/swiglu/swiglu_call.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

Value plain(const Value& gate, const Value& up) {
  const Value wide = graph::silu(graph::convert(gate, DType::kF32));
  return graph::convert(wide * graph::convert(up, DType::kF32), gate.dtype());
}

Values plain_gradient(const Value& gate, const Value& up, const Value& dy) {
  return graph::pullback(Values{plain(gate, up)}, Values{dy}, Values{gate, up});
}

}  // namespace

Value swiglu(const Value& gate, const Value& up, std::source_location where) {
  if (!graph::is_float(gate.dtype()) || gate.shape() != up.shape()) {
    fail(ExitCode::kFailure, fmt::format("swiglu: gate {} and up {} differ or are no floats",
                                         gate.shape(), up.shape()),
         "", where);
  }
  const auto vjp = [where](std::span<const Value> inputs, std::span<const Value>,
                           std::span<const Value> cotangents) {
    return graph::custom_call(
        kSwigluGradRow.name, Values{inputs[0], inputs[1], cotangents[0]}, {},
        [](std::span<const Value> in) { return plain_gradient(in[0], in[1], in[2]); }, {}, where);
  };
  return graph::custom_call(
      kSwigluRow.name, Values{gate, up}, {},
      [](std::span<const Value> in) { return Values{plain(in[0], in[1])}; }, {.vjp = vjp},
      where)[0];
}

}  // namespace hum::kernels
