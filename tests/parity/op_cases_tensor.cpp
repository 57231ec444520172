// Shapes, products, convolutions, reductions, indexing, spectra.
#include "tests/parity/op_cases.h"

namespace hum::parity {

namespace {

std::vector<float> window() { return graph::hann_window(8); }

Values parts(const graph::Spectrum& spectrum) { return {spectrum.real, spectrum.imag}; }

Value numbered(In in) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5};
  return in[0] * graph::iota({graph::DType::kF32, {5}}, 0) +
         graph::constant(std::span<const float>(numbers), {5});
}

OpCase conv1d(std::string name, graph::Conv1dOptions options) {
  return one(std::move(name), [options](In in) { return graph::conv1d(in[0], in[1], options); });
}

OpCase conv_transpose1d(std::string name, graph::Conv1dOptions options) {
  return one(std::move(name),
             [options](In in) { return graph::conv_transpose1d(in[0], in[1], options); });
}

OpCase conv_transpose2d(std::string name, graph::Conv2dOptions options) {
  return one(std::move(name),
             [options](In in) { return graph::conv_transpose2d(in[0], in[1], options); });
}

}  // namespace

OpCases shape_cases() {
  return {one("reshape",
              [](In in) {
                return graph::reshape(in[0], {4, 3});
              }),
          one("transpose",
              [](In in) {
                return graph::transpose(in[0], {2, 0, 1});
              }),
          one("reverse",
              [](In in) {
                return graph::reverse(in[0], {0, 2});
              }),
          one("concatenate",
              [](In in) {
                return graph::concatenate({in[0], in[1], in[0]}, 1);
              }),
          one("stack",
              [](In in) {
                return graph::stack({in[0], in[1]}, 1);
              }),
          one("slice",
              [](In in) {
                return graph::slice(in[0], {1, 0}, {5, 3}, {2, 1});
              }),
          {"split",
           [](In in) {
             const std::vector<int64_t> sizes = {3, 2};
             const Values found = graph::split(in[0], std::span<const int64_t>(sizes), 1);
             return Values{found[1], found[0]};
           }},
          one("pad",
              [](In in) {
                return graph::pad(in[0], 0.5, {2, -1}, {-1, 2}, {1, 0});
              }),
          one("iota and constant", numbered)};
}

OpCases dot_and_convolution_cases() {
  return {
      one("dot_general",
          [](In in) {
            return graph::dot_general(in[0], in[1],
                                      {.lhs_batch = {0},
                                       .rhs_batch = {2},
                                       .lhs_contracting = {2},
                                       .rhs_contracting = {1}});
          }),
      one("matmul", [](In in) { return graph::matmul(in[0], in[1], {.transpose_rhs = true}); }),
      conv1d("conv1d", {.stride = 2, .dilation = 2, .padding_low = 2, .padding_high = 1}),
      conv1d("conv1d, grouped", {.groups = 2, .padding_low = 1, .padding_high = 1}),
      conv1d("conv1d, depthwise and strided", {.stride = 2, .groups = 4}),
      one("depthwise_conv1d",
          [](In in) {
            return graph::depthwise_conv1d(in[0], in[1], {.dilation = 2, .padding_low = 4});
          }),
      conv_transpose1d("conv_transpose1d", {.stride = 2, .padding_low = 1, .padding_high = 1}),
      conv_transpose1d("conv_transpose1d, grouped", {.stride = 3, .groups = 2, .padding_high = 1}),
      one("conv2d",
          [](In in) {
            return graph::conv2d(in[0], in[1],
                                 {.strides = {1, 2},
                                  .dilation = {2, 1},
                                  .padding_low = {1, 1},
                                  .padding_high = {0, 1}});
          }),
      conv_transpose2d("conv_transpose2d",
                       {.strides = {2, 2}, .padding_low = {1, 1}, .padding_high = {2, 2}}),
      conv_transpose2d(
          "conv_transpose2d, grouped",
          {.strides = {1, 3}, .groups = 2, .padding_low = {0, 1}, .padding_high = {1, 0}})};
}

OpCases reduction_cases() {
  return {one("reduce_sum",
              [](In in) {
                return graph::reduce_sum(in[0], {0, 2});
              }),
          one("reduce_max", [](In in) { return graph::reduce_max(in[0], {1}); }),
          one("reduce_min",
              [](In in) {
                return graph::reduce_min(in[0], {0, 1});
              }),
          one("reduce_prod", [](In in) { return graph::reduce_prod(in[0], {1}); }),
          one("reduce_and", [](In in) { return graph::reduce_and(in[0] > -1, {1}); }),
          one("reduce_or", [](In in) { return graph::reduce_or(in[0] > 1, {0}); }),
          one("mean", [](In in) { return graph::mean(in[0], {1}, /*keepdims=*/true); }),
          one("variance", [](In in) { return graph::variance(in[0], {1}); }),
          one("logsumexp", [](In in) { return graph::logsumexp(in[0], {1}); }),
          one("softmax", [](In in) { return graph::softmax(in[0], 0); }),
          one("log_softmax", [](In in) { return graph::log_softmax(in[0], 1); }),
          one("softmax_cross_entropy",
              [](In in) { return graph::softmax_cross_entropy(in[0], in[1]); }),
          {"argmax and argmin",
           [](In in) {
             return Values{graph::argmax(in[0], 1), graph::argmin(in[0], 0)};
           }},
          one("cumulative_sum", [](In in) { return graph::cumulative_sum(in[0], 1); })};
}

OpCases indexing_cases() {
  return {one("take", [](In in) { return graph::take(in[0], in[1], 1); }),
          one("scatter_add", [](In in) { return graph::scatter_add(in[0], in[1], in[2]); }),
          one("take_along_dim", [](In in) { return graph::take_along_dim(in[0], in[1], 1); }),
          one("one_hot", [](In in) { return graph::matmul(graph::one_hot(in[0], 3), in[1]); }),
          one("dynamic_slice",
              [](In in) {
                return graph::dynamic_slice(in[0], {in[1], in[1]}, {2, 3});
              }),
          one("dynamic_update_slice", [](In in) {
            return graph::dynamic_update_slice(in[0], in[1], {in[2], graph::zeros_like(in[2])});
          })};
}

OpCases spectral_cases() {
  return {{"rfft", [](In in) { return parts(graph::rfft(in[0])); }},
          one("irfft", [](In in) { return graph::irfft(in[0], in[1], 8); }),
          one("frame", [](In in) { return graph::frame(in[0], 4, 3); }),
          one("overlap_add", [](In in) { return graph::overlap_add(in[0], 3); }),
          {"stft", [](In in) { return parts(graph::stft(in[0], window(), 2)); }},
          one("istft", [](In in) {
            return graph::istft({in[0], in[1]}, window(), 2);
          })};
}

}  // namespace hum::parity
