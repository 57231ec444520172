#include "kernels/conv1d/conv1d.h"

#include "graph/autodiff/gradients.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/matmul/matmul.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::Conv1dOptions;
using graph::Value;
using graph::Values;

Value forward(const Value& x, const Value& kernel, const Conv1dOptions& o,
              std::source_location where);
Value transposed(const Value& x, const Value& kernel, const Conv1dOptions& o,
                 std::source_location where);

graph::Attributes settings_of(const Conv1dOptions& o) {
  graph::Attributes settings;
  settings.set("stride", o.stride);
  settings.set("dilation", o.dilation);
  settings.set("padding_low", o.padding_low);
  return settings;
}

Value swap_channels(const Value& kernel_KIO) { return graph::transpose(kernel_KIO, {0, 2, 1}); }

// The high padding for which the transpose of a convolution from `wide` to `narrow` steps yields
// `wide` steps again; steps that no window covers are zero.
Conv1dOptions turned_round(Conv1dOptions o, int64_t taps, int64_t wide, int64_t narrow) {
  const int64_t reach = (taps - 1) * o.dilation;
  o.padding_high = (narrow - 1) * o.stride + reach + 1 - o.padding_low - wide;
  return o;
}

// sum over t of wide[t stride + k dilation - low]^T narrow[t] -> [K, wide's, narrow's channels].
// For f32 and stride 1, XLA's own sum is as fast; otherwise one product per tap is two to four
// times as fast (measured).
Value kernel_gradient(const Value& wide, const Value& narrow, int64_t taps,
                      const Conv1dOptions& o) {
  if (o.stride == 1 && wide.dtype() == graph::DType::kF32) {
    const Value zeros = graph::constant(0, {wide.dtype(), {taps, wide.size(2), narrow.size(2)}});
    return graph::pullback(Values{graph::conv1d(wide, zeros, o)}, Values{narrow}, Values{zeros})[0];
  }
  const int64_t steps = narrow.size(1), span = (steps - 1) * o.stride + 1;
  const int64_t needed = span + (taps - 1) * o.dilation;
  const int64_t high = needed - wide.size(1) - o.padding_low;
  const Value padded = graph::pad(wide, 0.0, {0, o.padding_low, 0}, {0, high, 0});
  Values products;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t from = k * o.dilation;
    const Value met = graph::slice(padded, {0, from, 0}, {wide.size(0), from + span, wide.size(2)},
                                   {1, o.stride, 1});
    products.push_back(matmul(met, narrow, {.transpose_lhs = true}));
  }
  return graph::stack(products, 0);
}

Value forward(const Value& x, const Value& kernel, const Conv1dOptions& o,
              std::source_location where) {
  const auto fallback = [&](std::span<const Value> in) {
    return Values{graph::conv1d(in[0], in[1], o, where)};
  };
  const auto vjp = [o, where](std::span<const Value> in, std::span<const Value>,
                              std::span<const Value> cotangents) {
    const Value &x = in[0], &dy = cotangents[0];
    const int64_t taps = in[1].size(0);
    const Conv1dOptions back = turned_round(o, taps, x.size(1), dy.size(1));
    return Values{transposed(dy, swap_channels(in[1]), back, where),
                  kernel_gradient(x, dy, taps, o)};
  };
  return graph::custom_call(kConv1dKernel.call.name, Values{x, kernel}, settings_of(o), fallback,
                            {.vjp = vjp}, where)[0];
}

Value transposed(const Value& x, const Value& kernel, const Conv1dOptions& o,
                 std::source_location where) {
  const auto fallback = [&](std::span<const Value> in) {
    return Values{graph::conv_transpose1d(in[0], in[1], o, where)};
  };
  const auto vjp = [o, where](std::span<const Value> in, std::span<const Value>,
                              std::span<const Value> cotangents) {
    const Value& dy = cotangents[0];
    const Value to_kernel = kernel_gradient(dy, in[0], in[1].size(0), o);
    return Values{forward(dy, swap_channels(in[1]), o, where), swap_channels(to_kernel)};
  };
  return graph::custom_call(kConvTranspose1dKernel.call.name, Values{x, kernel}, settings_of(o),
                            fallback, {.vjp = vjp}, where)[0];
}

}  // namespace

Value conv1d(const Value& x, const Value& kernel, const Conv1dOptions& options,
             std::source_location where) {
  return options.groups == 1 ? forward(x, kernel, options, where)
                             : graph::conv1d(x, kernel, options, where);
}

Value conv_transpose1d(const Value& x, const Value& kernel, const Conv1dOptions& options,
                       std::source_location where) {
  return options.groups == 1 ? transposed(x, kernel, options, where)
                             : graph::conv_transpose1d(x, kernel, options, where);
}

}  // namespace hum::kernels
