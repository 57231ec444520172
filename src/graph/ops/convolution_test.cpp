// Convolutions: cases for the op table, their reference a plain loop in double.
#include "graph/ops/convolution.h"

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

// x_BTI, kernel_KIO -> BTO
Array reference_conv1d(const Array& x, const Array& kernel, const Conv1dOptions& o) {
  const int64_t reach = (kernel.size(0) - 1) * o.dilation + 1,
                frames = (x.size(1) + o.padding_low + o.padding_high - reach) / o.stride + 1,
                in_group = kernel.size(1), out_group = kernel.size(2) / o.groups;
  return make_array({x.size(0), frames, kernel.size(2)}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < kernel.size(0); ++k) {
      const int64_t t = at[1] * o.stride + k * o.dilation - o.padding_low;
      if (t < 0 || t >= x.size(1)) continue;
      for (int64_t i = 0; i < in_group; ++i) {
        sum += x.at({at[0], t, at[2] / out_group * in_group + i}) * kernel.at({k, i, at[2]});
      }
    }
    return sum;
  });
}

Array reference_transpose(const Array& x, const Array& kernel, const Conv1dOptions& o) {
  const int64_t time = (x.size(1) - 1) * o.stride + (kernel.size(0) - 1) * o.dilation + 1 -
                       o.padding_low - o.padding_high,
                in_group = kernel.size(1), out_group = kernel.size(2) / o.groups;
  return make_array({x.size(0), time, kernel.size(2)}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t t = 0; t < x.size(1); ++t) {
      for (int64_t k = 0; k < kernel.size(0); ++k) {
        if (t * o.stride + k * o.dilation - o.padding_low != at[1]) continue;
        for (int64_t i = 0; i < in_group; ++i) {
          sum += x.at({at[0], t, at[2] / out_group * in_group + i}) * kernel.at({k, i, at[2]});
        }
      }
    }
    return sum;
  });
}

Array reference_conv2d(const Array& x, const Array& kernel, const Conv2dOptions& o) {
  const auto frames = [&](int d) {
    const auto s = static_cast<size_t>(d);
    const int64_t reach = (kernel.size(d) - 1) * o.dilation[s] + 1;
    return (x.size(d + 1) + o.padding_low[s] + o.padding_high[s] - reach) / o.strides[s] + 1;
  };
  return make_array({x.size(0), frames(0), frames(1), kernel.size(3)}, [&](const Dims& at) {
    double sum = 0;
    for (int64_t tap = 0; tap < kernel.size(0) * kernel.size(1); ++tap) {
      const int64_t h = tap / kernel.size(1), w = tap % kernel.size(1),
                    row = at[1] * o.strides[0] + h * o.dilation[0] - o.padding_low[0],
                    column = at[2] * o.strides[1] + w * o.dilation[1] - o.padding_low[1];
      if (row < 0 || row >= x.size(1) || column < 0 || column >= x.size(2)) continue;
      for (int64_t i = 0; i < kernel.size(2); ++i) {
        sum += x.at({at[0], row, column, i}) * kernel.at({h, w, i, at[3]});
      }
    }
    return sum;
  });
}

Array reference_transpose2d(const Array& x, const Array& kernel, const Conv2dOptions& o) {
  const auto size = [&](size_t d) {
    const auto dim = static_cast<int>(d);
    return (x.size(dim + 1) - 1) * o.strides[d] + (kernel.size(dim) - 1) * o.dilation[d] + 1 -
           o.padding_low[d] - o.padding_high[d];
  };
  const int64_t in_group = kernel.size(2), out_group = kernel.size(3) / o.groups;
  return make_array({x.size(0), size(0), size(1), kernel.size(3)}, [&](const Dims& at) {
    // The tap that carries input `from` of dim d to this result.
    const auto tap = [&](size_t d, int64_t from) -> int64_t {
      const int64_t away = at[d + 1] + o.padding_low[d] - from * o.strides[d];
      return away >= 0 && away % o.dilation[d] == 0 ? away / o.dilation[d] : -1;
    };
    double sum = 0;
    for (int64_t row = 0; row < x.size(1); ++row) {
      for (int64_t column = 0; column < x.size(2); ++column) {
        const int64_t h = tap(0, row), w = tap(1, column);
        if (h < 0 || h >= kernel.size(0) || w < 0 || w >= kernel.size(1)) continue;
        for (int64_t i = 0; i < in_group; ++i) {
          sum += x.at({at[0], row, column, at[3] / out_group * in_group + i}) *
                 kernel.at({h, w, i, at[3]});
        }
      }
    }
    return sum;
  });
}

Case conv1d_case(std::string name, Dims x, Dims kernel, Conv1dOptions options) {
  return {
      .name = "conv1d " + name,
      .op = "convolution",
      .inputs = {f32(std::move(x)), f32(std::move(kernel))},
      .build = [options](auto in) { return Values{conv1d(in[0], in[1], options)}; },
      .reference = [options](auto in) { return Arrays{reference_conv1d(in[0], in[1], options)}; }};
}

Case transpose_case(std::string name, Dims x, Dims kernel, Conv1dOptions options) {
  return {.name = "conv_transpose1d " + name,
          .op = options.groups == 1 && options.dilation == 1 ? "dot_general" : "convolution",
          .inputs = {f32(std::move(x)), f32(std::move(kernel))},
          .build = [options](auto in) { return Values{conv_transpose1d(in[0], in[1], options)}; },
          .reference =
              [options](auto in) { return Arrays{reference_transpose(in[0], in[1], options)}; }};
}

Case depthwise_case(std::string name, Dims x, Dims kernel, DepthwiseOptions o) {
  return {.name = "depthwise_conv1d " + name,
          .op = "",
          .inputs = {f32(std::move(x)), f32(std::move(kernel))},
          .build = [o](auto in) { return Values{depthwise_conv1d(in[0], in[1], o)}; },
          .reference =
              [o](auto in) {
                const Array kernel{{in[1].size(0), 1, in[1].size(1)}, in[1].data};
                return Arrays{reference_conv1d(
                    in[0], kernel, {1, o.dilation, in[1].size(1), o.padding_low, o.padding_high})};
              }};
}

Case conv2d_case(std::string name, Dims x, Dims kernel, Conv2dOptions options) {
  return {
      .name = "conv2d " + name,
      .op = "convolution",
      .inputs = {f32(std::move(x)), f32(std::move(kernel))},
      .build = [options](auto in) { return Values{conv2d(in[0], in[1], options)}; },
      .reference = [options](auto in) { return Arrays{reference_conv2d(in[0], in[1], options)}; }};
}

Case transpose2d_case(std::string name, Dims x, Dims kernel, Conv2dOptions options) {
  return {.name = "conv_transpose2d " + name,
          .op = "convolution",
          .inputs = {f32(std::move(x)), f32(std::move(kernel))},
          .build = [options](auto in) { return Values{conv_transpose2d(in[0], in[1], options)}; },
          .reference =
              [options](auto in) { return Arrays{reference_transpose2d(in[0], in[1], options)}; }};
}

// The gradient to the kernel as a separate function: its gradient runs through batch groups.
Case kernel_gradient_case() {
  const Conv1dOptions options{.stride = 2, .groups = 2, .padding_low = 1};
  return {.name = "conv1d's gradient to a grouped kernel",
          .op = "convolution",
          .inputs = {f32({2, 8, 4}), f32({2, 4, 2})},
          .build =
              [options](auto in) {
                const Value kernel = zeros_like(parameter("k", {in[0].dtype(), {3, 2, 2}}));
                const Value y = conv1d(in[0], kernel, options);
                return pullback(Values{y}, Values{in[1]}, Values{kernel});
              },
          .reference =
              [options](auto in) {
                const Array &x = in[0], &g = in[1];
                return Arrays{make_array({3, 2, 2}, [&](const Dims& at) {
                  double sum = 0;
                  for (int64_t b = 0; b < 2; ++b) {
                    for (int64_t t = 0; t < g.size(1); ++t) {
                      const int64_t from = t * 2 + at[0] - 1;
                      if (from < 0 || from >= 8) continue;
                      sum += x.at({b, from, at[2] * 2 + at[1]}) * g.at({b, t, at[2]});
                    }
                  }
                  return sum;
                })};
              }};
}

Value conv1d_of(Shape x, Shape kernel, Conv1dOptions options = {}) {
  return conv1d(parameter("x", std::move(x)), parameter("kernel", std::move(kernel)), options);
}

const Shape kX{DType::kF32, {2, 9, 4}}, kKernel{DType::kF32, {3, 4, 5}};

Value placed_conv(AxisPlacement x, AxisPlacement kernel) {
  return conv1d(placed(kX, x), placed(kKernel, kernel));
}

}  // namespace

Family convolution_family() {
  return {
      .name = "Convolution",
      .cases = {conv1d_case("plain", {2, 9, 3}, {3, 3, 4}, {}),
                conv1d_case("pointwise", {2, 7, 5}, {1, 5, 3}, {}),
                conv1d_case("strided", {2, 10, 3}, {3, 3, 2},
                            {.stride = 2, .padding_low = 1, .padding_high = 1}),
                conv1d_case("with the end unused", {1, 12, 2}, {4, 2, 3}, {.stride = 3}),
                conv1d_case("dilated", {1, 15, 3}, {3, 3, 2},
                            {.dilation = 3, .padding_low = 3, .padding_high = 3}),
                conv1d_case("causal", {2, 8, 3}, {5, 3, 2}, {.padding_low = 4}),
                conv1d_case("cropped", {2, 12, 3}, {3, 3, 2},
                            {.padding_low = -2, .padding_high = -1}),
                conv1d_case("grouped", {2, 9, 4}, {3, 2, 6}, {.groups = 2, .padding_low = 1}),
                conv1d_case("depthwise and strided", {3, 11, 4}, {5, 1, 4},
                            {.stride = 2, .groups = 4, .padding_low = 2}),
                conv1d_case("with everything", {2, 17, 4}, {3, 2, 6}, {2, 2, 2, 3, 1}),
                kernel_gradient_case(),
                transpose_case("plain", {2, 5, 3}, {4, 3, 2}, {}),
                transpose_case("strided", {2, 5, 3}, {4, 3, 2},
                               {.stride = 2, .padding_low = 1, .padding_high = 1}),
                transpose_case("strided and grown", {2, 4, 2}, {3, 2, 2},
                               {.stride = 2, .padding_low = -1, .padding_high = -2}),
                transpose_case("with gaps", {1, 4, 2}, {2, 2, 3}, {.stride = 3}),
                transpose_case("grouped", {2, 4, 4}, {3, 2, 6}, {.stride = 2, .groups = 2}),
                transpose_case("dilated", {1, 5, 2}, {3, 2, 2},
                               {.stride = 2, .dilation = 2, .padding_high = 3}),
                conv2d_case("plain", {2, 4, 5, 2}, {3, 2, 2, 3}, {}),
                conv2d_case("strided and padded", {1, 5, 6, 2}, {3, 2, 2, 3},
                            {.strides = {1, 2}, .padding_low = {1, 0}, .padding_high = {1, 1}}),
                conv2d_case("dilated", {1, 6, 5, 2}, {3, 2, 2, 2}, {.dilation = {2, 3}}),
                transpose2d_case("plain", {2, 3, 4, 2}, {3, 2, 2, 3}, {}),
                transpose2d_case(
                    "that doubles", {1, 3, 4, 3}, {5, 5, 3, 2},
                    {.strides = {2, 2}, .padding_low = {1, 1}, .padding_high = {2, 2}}),
                transpose2d_case("with gaps and grown", {2, 3, 2, 2}, {2, 4, 2, 3},
                                 {.strides = {3, 1}, .padding_low = {-1, 2}}),
                transpose2d_case("grouped", {1, 3, 4, 4}, {3, 2, 2, 6},
                                 {.strides = {2, 3}, .groups = 2, .padding_high = {1, 0}}),
                transpose2d_case("dilated", {1, 3, 4, 2}, {3, 2, 2, 2},
                                 {.strides = {2, 1}, .dilation = {1, 3}, .padding_low = {1, 0}}),
                depthwise_case("centred", {2, 10, 5}, {3, 5}, {1, 1, 1}),
                depthwise_case("causal and dilated", {2, 10, 5}, {3, 5}, {2, 4, 0}),
                depthwise_case("padded wide", {1, 7, 3}, {3, 3}, {1, 5, 3}),
                depthwise_case("cropped", {2, 11, 3}, {3, 3}, {1, -1, -2})},
      .shape_errors =
          {{"convolution",
            [] {
              return conv1d_of({DType::kF32, {2, 9, 4}}, {DType::kF32, {3, 5, 6}});
            },
            "convolution: input f32[2,9,4] has 4 features, kernel f32[3,5,6] takes 5 in 1 groups"},
           {"convolution",
            [] {
              return conv1d_of({DType::kF32, {2, 9, 4}}, {DType::kF32, {3, 2, 5}}, {.groups = 2});
            },
            "convolution: 5 output features of f32[3,2,5] and batch 2 do not split into 2 groups"},
           {"convolution",
            [] {
              return conv1d_of({DType::kF32, {2, 9, 4}}, kKernel, {.dilation = 5});
            },
            "convolution: input f32[2,9,4] is 9 long in spatial dim 0 with padding, kernel "
            "f32[3,4,5] needs 11"},
           {"convolution",
            [] {
              return conv1d_of(kX, {DType::kBF16, {3, 4, 5}});
            },
            "convolution: needs f32 or bf16 on both sides, not f32[2,9,4] and bf16[3,4,5]"},
           {"",
            [] {
              return conv_transpose2d(parameter("x", {DType::kF32, {1, 4, 4, 3}}),
                                      parameter("kernel", {DType::kF32, {3, 3, 2, 5}}));
            },
            "conv_transpose2d: input f32[1,4,4,3] has 3 features, kernel f32[3,3,2,5] takes 2 in 1 "
            "groups"},
           {"",
            [] {
              return conv_transpose2d(parameter("x", {DType::kF32, {1, 4, 4, 2}}),
                                      parameter("kernel", {DType::kF32, {3, 3, 2, 5}}),
                                      {.strides = {0, 1}});
            },
            "conv_transpose2d: strides [0,1] below 1"},
           {"",
            [] {
              return depthwise_conv1d(parameter("x", kX), parameter("k", {DType::kF32, {3, 5}}));
            },
            "depthwise_conv1d: input f32[2,9,4] with padding 0 + 0, kernel f32[3,5] dilated by "
            "1"}},
      .placements =
          {{"convolution", [] { return placed_conv(sharded(0), kReplicated); },
            "data: R, tensor: S(0)"},
           {"convolution", [] { return placed_conv(kReplicated, sharded(2)); },
            "data: R, tensor: S(2)"},
           {"convolution", [] { return placed_conv(sharded(2), sharded(1)); },
            "data: R, tensor: P"},
           {"convolution", [] { return placed_conv(kPartial, kReplicated); }, "data: R, tensor: P"},
           {"convolution", [] { return placed_conv(sharded(1), kReplicated); },
            "convolution: f32[2,9,4] placed data: R, tensor: S(1) and kernel f32[3,4,5] placed "
            "replicated are incompatible"}},
  };
}

}  // namespace hum::graph::op_test
