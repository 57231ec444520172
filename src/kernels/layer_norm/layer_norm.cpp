#include "kernels/layer_norm/layer_norm.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/reduction.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

struct Settings {
  double epsilon;
  bool rms;
};

Value plain(const Value& x, const Value& scale, const Value& bias, Settings settings) {
  Value wide = graph::convert(x, DType::kF32);
  if (!settings.rms) wide = wide - graph::mean(wide, {-1}, /*keepdims=*/true);
  const Value power = graph::mean(wide * wide, {-1}, /*keepdims=*/true);
  const Value y = wide * graph::rsqrt(power + settings.epsilon) * scale + bias;
  return graph::convert(y, x.dtype());
}

Values plain_gradient(const Value& x, const Value& scale, const Value& dy, Settings settings) {
  const Value bias = graph::zeros_like(scale);
  return graph::pullback(Values{plain(x, scale, bias, settings)}, Values{dy},
                         Values{x, scale, bias});
}

Value norm(const Value& x, const Value& scale, const Value& bias, Settings settings,
           std::source_location where) {
  graph::Attributes attributes;
  attributes.set("epsilon", settings.epsilon);
  attributes.set("rms", settings.rms);
  const auto vjp = [=](std::span<const Value> inputs, std::span<const Value>,
                       std::span<const Value> cotangents) {
    return graph::custom_call(
        kLayerNormGradKernel.call.name, Values{inputs[0], inputs[1], cotangents[0]}, attributes,
        [&](std::span<const Value> in) { return plain_gradient(in[0], in[1], in[2], settings); },
        {}, where);
  };
  return graph::custom_call(
      kLayerNormKernel.call.name, Values{x, scale, bias}, attributes,
      [&](std::span<const Value> in) { return Values{plain(in[0], in[1], in[2], settings)}; },
      {.vjp = vjp}, where)[0];
}

void require_fits(const char* op, const Value& x, const Value& parameter,
                  std::source_location where) {
  if (graph::is_float(x.dtype()) && x.rank() >= 1 && x.size(-1) > 0 &&
      graph::is_float(parameter.dtype()) && parameter.dims() == graph::Dims{x.size(-1)}) {
    return;
  }
  fail(ExitCode::kFailure,
       fmt::format("{}: {} does not fit the last dim of {}", op, parameter.shape(), x.shape()), "",
       where);
}

}  // namespace

Value layer_norm(const Value& x, const Value& scale, const Value& bias, double epsilon,
                 std::source_location where) {
  require_fits("layer_norm", x, scale, where);
  require_fits("layer_norm", x, bias, where);
  return norm(x, graph::convert(scale, DType::kF32), graph::convert(bias, DType::kF32),
              {epsilon, /*rms=*/false}, where);
}

Value rms_norm(const Value& x, const Value& scale, double epsilon, std::source_location where) {
  require_fits("rms_norm", x, scale, where);
  const Value wide = graph::convert(scale, DType::kF32);
  return norm(x, wide, graph::zeros_like(wide), {epsilon, /*rms=*/true}, where);
}

}  // namespace hum::kernels
