// 1-d, 2-d, transposed and depthwise convolutions, channels last.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/convolution.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/spectral.h"

namespace hum::graph {
namespace {

void require_rank(const char* op, const Value& x, int x_rank, const Value& kernel,
                  int kernel_rank) {
  HUM_REQUIRE(x.rank() == x_rank && kernel.rank() == kernel_rank,
              "{}: input {} and kernel {} must have {} and {} dims", op, x.shape(), kernel.shape(),
              x_rank, kernel_rank);
}

ConvolutionOptions in_general(const Conv1dOptions& o) {
  return {.strides = {o.stride},
          .padding_low = {o.padding_low},
          .padding_high = {o.padding_high},
          .kernel_dilation = {o.dilation},
          .feature_groups = o.groups};
}

ConvolutionOptions in_general(const Conv2dOptions& o) {
  return {.strides = o.strides,
          .padding_low = o.padding_low,
          .padding_high = o.padding_high,
          .kernel_dilation = o.dilation,
          .feature_groups = o.groups,
          .layout = {"b01f", "01io", "b01f"}};
}

// Writes a transposed convolution as frames of K outputs per input, overlapped one stride apart.
Value overlapped_products(const Value& x_BTI, const Value& kernel_KIO, const Conv1dOptions& o) {
  const int64_t taps = kernel_KIO.size(0), outputs = kernel_KIO.size(2);
  const Value table = reshape(transpose(kernel_KIO, {1, 0, 2}), {x_BTI.size(2), taps * outputs});
  const Value frames = matmul(x_BTI, table, {.result = DType::kF32});
  const Value sum = overlap_add(frames, o.stride * outputs);
  const Value whole = reshape(sum, {x_BTI.size(0), sum.size(1) / outputs, outputs});
  const Value cropped = pad(whole, 0.0, {0, -o.padding_low, 0}, {0, -o.padding_high, 0});
  return convert(cropped, x_BTI.dtype());
}

void require_features(const char* op, const Value& x, const Value& kernel, int64_t groups) {
  HUM_REQUIRE(x.size(-1) == kernel.size(-2) * groups,
              "{}: input {} has {} features, kernel {} takes {} in {} groups", op, x.shape(),
              x.size(-1), kernel.shape(), kernel.size(-2), groups);
}

// Writes a transposed convolution as one over the input with zeros inserted. The options are those
// of the transposed one.
Value over_dilated_input(const Value& x, const Value& kernel, ConvolutionOptions o,
                         std::source_location where) {
  Dims spatial;
  for (size_t d = 0; d < o.strides.size(); ++d) {
    const auto dim = static_cast<int>(d);
    const int64_t reach = (kernel.size(dim) - 1) * o.kernel_dilation[d];
    o.padding_low[d] = reach - o.padding_low[d];
    o.padding_high[d] = reach - o.padding_high[d];
    spatial.push_back(dim);
  }
  o.input_dilation = std::exchange(o.strides, {});
  return convolution(x, reverse(kernel, spatial, where), std::move(o), where);
}

// Writes a transposed convolution as one convolution at the input's rate. Its features are the
// outputs of all phases (positions modulo the stride), which then move into the spatial dims. 5
// taps at stride 2 become 3 taps for each of 2 phases, one of them zero.
Value interleaved_phases(const Value& x_BHWI, const Value& kernel_HWIO, const Conv2dOptions& o) {
  const int64_t batch = x_BHWI.size(0), inputs = x_BHWI.size(3), outputs = kernel_HWIO.size(3),
                rows = o.strides[0], columns = o.strides[1],
                taps_high = (kernel_HWIO.size(0) + rows - 1) / rows,
                taps_wide = (kernel_HWIO.size(1) + columns - 1) / columns;
  // Tap j of phase r is tap j stride + r of the kernel. A convolution multiplies its last tap with
  // the latest input, a transposed one its first.
  const Value whole_taps = pad(
      kernel_HWIO, 0.0, {0, 0, 0, 0},
      {taps_high * rows - kernel_HWIO.size(0), taps_wide * columns - kernel_HWIO.size(1), 0, 0});
  const Value taps =
      reverse(reshape(whole_taps, {taps_high, rows, taps_wide, columns, inputs, outputs}), {0, 2});
  const Value kernel = reshape(transpose(taps, {0, 2, 4, 1, 3, 5}),
                               {taps_high, taps_wide, inputs, rows * columns * outputs});
  const Dims reach = {taps_high - 1, taps_wide - 1};
  const Value phases = conv2d(x_BHWI, kernel, {.padding_low = reach, .padding_high = reach});
  const int64_t height = phases.size(1), width = phases.size(2);
  const Value parts = reshape(phases, {batch, height, width, rows, columns, outputs});
  const Value whole = reshape(transpose(parts, {0, 1, 3, 2, 4, 5}),
                              {batch, height * rows, width * columns, outputs});
  return pad(whole, 0.0, {0, -o.padding_low[0], -o.padding_low[1], 0},
             {0, kernel_HWIO.size(0) - taps_high * rows - o.padding_high[0],
              kernel_HWIO.size(1) - taps_wide * columns - o.padding_high[1], 0});
}

// Multiplies every channel by its own kernel, one tap at a time; sums in f32.
Value sum_of_taps(const Value& padded_BTC, const Value& kernel_KC, int64_t dilation) {
  const int64_t taps = kernel_KC.size(0), channels = kernel_KC.size(1);
  const int64_t time = padded_BTC.size(1) - (taps - 1) * dilation;
  Value sum;
  for (int64_t k = 0; k < taps; ++k) {
    const Value tap = reshape(slice_in_dim(kernel_KC, 0, k, k + 1), {channels});
    const Value shifted = slice_in_dim(padded_BTC, 1, k * dilation, k * dilation + time);
    const Value term = convert(shifted, DType::kF32) * convert(tap, DType::kF32);
    sum = sum ? sum + term : term;
  }
  return convert(sum, padded_BTC.dtype());
}

// Sums over all dims but the last. XLA's CPU compiler emits a strided scalar loop for a sum over
// major dims when products are fused into it; adding a few slabs first keeps the loop vectorized
// (measured: 5 times as fast).
Value sum_rows(const Value& x) {
  const int64_t rows = x.shape().elements() / x.size(-1);
  int64_t slabs = 8;
  while (rows % slabs != 0) --slabs;
  const Value flat = reshape(x, {slabs, rows / slabs, x.size(-1)});
  Value sum;
  for (int64_t i = 0; i < slabs; ++i) {
    const Value slab = reshape(slice_in_dim(flat, 0, i, i + 1), {rows / slabs, x.size(-1)});
    sum = sum ? sum + slab : slab;
  }
  return reduce_sum(sum, {0});
}

Value pad_time(const Value& x_BTC, int64_t low, int64_t high) {
  return pad(x_BTC, 0.0, {0, low, 0}, {0, high, 0});
}

Values depthwise_vjp(const Value& x_BTC, const Value& kernel_KC, const Value& cotangent,
                     const DepthwiseOptions& o) {
  const int64_t taps = kernel_KC.size(0), reach = (taps - 1) * o.dilation;
  const Value around = pad_time(cotangent, reach - o.padding_low, reach - o.padding_high);
  const Value to_input = sum_of_taps(around, reverse(kernel_KC, {0}), o.dilation);
  const Value padded = pad_time(x_BTC, o.padding_low, o.padding_high);
  Values rows;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t from = k * o.dilation;
    const Value shifted = slice_in_dim(padded, 1, from, from + cotangent.size(1));
    const Value product = convert(shifted, DType::kF32) * convert(cotangent, DType::kF32);
    rows.push_back(expand_dims(sum_rows(product), 0));
  }
  return {to_input, convert(concatenate(rows, 0), kernel_KC.dtype())};
}

}  // namespace

Value conv1d(const Value& x_BTI, const Value& kernel_KIO, Conv1dOptions options,
             std::source_location where) {
  const ErrorContext context = building("conv1d", {x_BTI, kernel_KIO}, where);
  require_rank("conv1d", x_BTI, 3, kernel_KIO, 3);
  return convolution(x_BTI, kernel_KIO, in_general(options), where);
}

Value conv_transpose1d(const Value& x_BTI, const Value& kernel_KIO, Conv1dOptions options,
                       std::source_location where) {
  const ErrorContext context = building("conv_transpose1d", {x_BTI, kernel_KIO}, where);
  require_rank("conv_transpose1d", x_BTI, 3, kernel_KIO, 3);
  require_features("conv_transpose1d", x_BTI, kernel_KIO, options.groups);
  // On XLA:CPU a convolution with a dilated input is fast, but its gradient is 16 times slower than
  // that of a product and an overlap (measured at K 16, stride 8, 256 to 128 features).
  if (options.groups == 1 && options.dilation == 1 && kernel_KIO.placement().is_replicated()) {
    return overlapped_products(x_BTI, kernel_KIO, options);
  }
  return over_dilated_input(x_BTI, kernel_KIO, in_general(options), where);
}

Value conv2d(const Value& x_BHWI, const Value& kernel_HWIO, Conv2dOptions options,
             std::source_location where) {
  const ErrorContext context = building("conv2d", {x_BHWI, kernel_HWIO}, where);
  require_rank("conv2d", x_BHWI, 4, kernel_HWIO, 4);
  return convolution(x_BHWI, kernel_HWIO, in_general(options), where);
}

Value conv_transpose2d(const Value& x_BHWI, const Value& kernel_HWIO, Conv2dOptions options,
                       std::source_location where) {
  const ErrorContext context = building("conv_transpose2d", {x_BHWI, kernel_HWIO}, where);
  require_rank("conv_transpose2d", x_BHWI, 4, kernel_HWIO, 4);
  require_features("conv_transpose2d", x_BHWI, kernel_HWIO, options.groups);
  for (const Dims& list :
       {options.strides, options.dilation, options.padding_low, options.padding_high}) {
    HUM_REQUIRE(list.size() == 2, "conv_transpose2d: [{}] for 2 spatial dims",
                fmt::join(list, ","));
  }
  HUM_REQUIRE(std::ranges::min(options.strides) >= 1, "conv_transpose2d: strides [{}] below 1",
              fmt::join(options.strides, ","));
  if (options.groups == 1 && options.dilation == Dims{1, 1} &&
      kernel_HWIO.placement().is_replicated()) {
    return interleaved_phases(x_BHWI, kernel_HWIO, options);
  }
  return over_dilated_input(x_BHWI, kernel_HWIO, in_general(options), where);
}

Value depthwise_conv1d(const Value& x_BTC, const Value& kernel_KC, DepthwiseOptions options,
                       std::source_location where) {
  const ErrorContext context = building("depthwise_conv1d", {x_BTC, kernel_KC}, where);
  require_rank("depthwise_conv1d", x_BTC, 3, kernel_KC, 2);
  const int64_t reach = (kernel_KC.size(0) - 1) * options.dilation;
  HUM_REQUIRE(x_BTC.size(2) == kernel_KC.size(1) &&
                  x_BTC.size(1) + options.padding_low + options.padding_high > reach,
              "depthwise_conv1d: input {} with padding {} + {}, kernel {} dilated by {}",
              x_BTC.shape(), options.padding_low, options.padding_high, kernel_KC.shape(),
              options.dilation);
  return custom_vjp(
      Values{x_BTC, kernel_KC},
      [&](std::span<const Value> in) {
        const Value padded = pad_time(in[0], options.padding_low, options.padding_high);
        return Values{sum_of_taps(padded, in[1], options.dilation)};
      },
      [options](std::span<const Value> in, std::span<const Value>,
                std::span<const Value> cotangents) {
        return depthwise_vjp(in[0], in[1], cotangents[0], options);
      },
      where)[0];
}

}  // namespace hum::graph
