#include "kernels/conv2d/conv2d.h"

#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::Conv2dOptions;
using graph::Value;
using graph::Values;

Value forward(const Value& x, const Value& kernel, const Conv2dOptions& o,
              std::source_location where);
Value transposed(const Value& x, const Value& kernel, const Conv2dOptions& o,
                 std::source_location where);

graph::Attributes settings_of(const Conv2dOptions& o) {
  graph::Attributes settings;
  settings.set("strides", o.strides);
  settings.set("dilation", o.dilation);
  settings.set("padding_low", o.padding_low);
  return settings;
}

Value swap_channels(const Value& kernel_HWIO) {
  return graph::transpose(kernel_HWIO, {0, 1, 3, 2});
}

// The high padding for which the transpose of a convolution from `wide` to `narrow` yields the size
// of `wide` again; places that no window covers are zero.
Conv2dOptions turned_round(Conv2dOptions o, const Value& kernel, const Value& wide,
                           const Value& narrow) {
  for (size_t d = 0; d < 2; ++d) {
    const auto dim = static_cast<int>(d);
    const int64_t reach = (kernel.size(dim) - 1) * o.dilation[d];
    o.padding_high[d] = (narrow.size(dim + 1) - 1) * o.strides[d] + reach + 1 - o.padding_low[d] -
                        wide.size(dim + 1);
  }
  return o;
}

// The gradient of conv2d(wide, kernel) to the kernel for the cotangent `narrow`, by plain ops.
Value kernel_gradient(const Value& wide, const Value& narrow, const Value& like,
                      const Conv2dOptions& o) {
  const Value kernel = graph::zeros_like(like);
  return graph::pullback(Values{graph::conv2d(wide, kernel, o)}, Values{narrow}, Values{kernel})[0];
}

Value forward(const Value& x, const Value& kernel, const Conv2dOptions& o,
              std::source_location where) {
  const auto fallback = [&](std::span<const Value> in) {
    return Values{graph::conv2d(in[0], in[1], o, where)};
  };
  const auto vjp = [o, where](std::span<const Value> in, std::span<const Value>,
                              std::span<const Value> cotangents) {
    const Value& dy = cotangents[0];
    return Values{transposed(dy, swap_channels(in[1]), turned_round(o, in[1], in[0], dy), where),
                  kernel_gradient(in[0], dy, in[1], o)};
  };
  return graph::custom_call(kConv2dKernel.call.name, Values{x, kernel}, settings_of(o), fallback,
                            {.vjp = vjp}, where)[0];
}

Value transposed(const Value& x, const Value& kernel, const Conv2dOptions& o,
                 std::source_location where) {
  const auto fallback = [&](std::span<const Value> in) {
    return Values{graph::conv_transpose2d(in[0], in[1], o, where)};
  };
  const auto vjp = [o, where](std::span<const Value> in, std::span<const Value>,
                              std::span<const Value> cotangents) {
    const Value &dy = cotangents[0], turned = swap_channels(in[1]);
    return Values{forward(dy, turned, o, where),
                  swap_channels(kernel_gradient(dy, in[0], turned, o))};
  };
  return graph::custom_call(kConvTranspose2dKernel.call.name, Values{x, kernel}, settings_of(o),
                            fallback, {.vjp = vjp}, where)[0];
}

}  // namespace

Value conv2d(const Value& x, const Value& kernel, const Conv2dOptions& options,
             std::source_location where) {
  return options.groups == 1 ? forward(x, kernel, options, where)
                             : graph::conv2d(x, kernel, options, where);
}

Value conv_transpose2d(const Value& x, const Value& kernel, const Conv2dOptions& options,
                       std::source_location where) {
  return options.groups == 1 ? transposed(x, kernel, options, where)
                             : graph::conv_transpose2d(x, kernel, options, where);
}

}  // namespace hum::kernels
