#include "kernels/depthwise_conv/depthwise_conv.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DepthwiseOptions;
using graph::DType;
using graph::Value;
using graph::Values;

Value plain(const Value& x, const Value& kernel, const Value& bias, const DepthwiseOptions& o) {
  const Value y = graph::depthwise_conv1d(graph::convert(x, DType::kF32), kernel, o);
  return graph::convert(y + bias, x.dtype());
}

Values plain_gradient(const Value& x, const Value& kernel, const Value& dy,
                      const DepthwiseOptions& o) {
  const Value bias = graph::constant(0, {DType::kF32, {x.size(2)}});
  return graph::pullback(Values{plain(x, kernel, bias, o)}, Values{dy}, Values{x, kernel, bias});
}

}  // namespace

Value depthwise_conv(const Value& x, const Value& kernel, const Value& bias,
                     const DepthwiseOptions& options, std::source_location where) {
  const bool fits = x.rank() == 3 && kernel.rank() == 2 && graph::is_float(x.dtype()) &&
                    kernel.size(1) == x.size(2) && bias.dims() == graph::Dims{x.size(2)};
  if (!fits) {
    fail(ExitCode::kFailure,
         fmt::format("depthwise_conv: x {}, kernel {} and bias {} do not fit: want x[B,T,C], "
                     "kernel[K,C], bias[C]",
                     x.shape(), kernel.shape(), bias.shape()),
         "", where);
  }
  graph::Attributes attributes;
  attributes.set("dilation", options.dilation);
  attributes.set("padding_low", options.padding_low);
  const auto vjp = [=](std::span<const Value> inputs, std::span<const Value>,
                       std::span<const Value> cotangents) {
    return graph::custom_call(
        kDepthwiseConvGradKernel.call.name, Values{inputs[0], inputs[1], cotangents[0]}, attributes,
        [&](std::span<const Value> in) { return plain_gradient(in[0], in[1], in[2], options); }, {},
        where);
  };
  return graph::custom_call(
      kDepthwiseConvKernel.call.name,
      Values{x, graph::convert(kernel, DType::kF32), graph::convert(bias, DType::kF32)}, attributes,
      [&](std::span<const Value> in) { return Values{plain(in[0], in[1], in[2], options)}; },
      {.vjp = vjp}, where)[0];
}

}  // namespace hum::kernels
