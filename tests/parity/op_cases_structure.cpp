// Loops, sorting, gradients by hand, kernels.
#include "kernels/attention/attention.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/depthwise_conv/depthwise_conv.h"
#include "kernels/embedding/embedding.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/mel_spectrum/mel_spectrum.h"
#include "kernels/polar/polar.h"
#include "tests/parity/op_cases.h"

namespace hum::parity {

namespace {

// h = tanh(h w + x), y = h x.
Values rnn(In in, graph::ScanOptions options) {
  const auto [carry, ys] = graph::scan(
      4, in.first(1), in.last(1),
      [&](const graph::ScanStep& step) {
        const Value h = graph::tanh(graph::matmul(step.carry[0], in[1]) + step.xs[0]);
        return graph::ScanResult{{h}, {h * step.xs[0]}};
      },
      options);
  return {carry[0], ys[0]};
}

Values tripled_up_to_100(In in) {
  return graph::while_loop(
      in, [](In carry) { return carry[0] < 100; },
      [](In carry) {
        return Values{carry[0] * 3, carry[1] + 1};
      });
}

Value tanh_of_product(In in) {
  return graph::checkpoint(graph::RecomputePolicy::kFull, in,
                           [](In inner) { return Values{graph::tanh(inner[0] * inner[1])}; })[0];
}

Value rounded_straight_through(In in) {
  const Value rounded = graph::custom_vjp(
      in, [](In x) { return Values{graph::round_nearest_even(x[0])}; },
      [](In, In, In cotangents) { return Values{cotangents[0]}; })[0];
  return rounded * in[0];
}

}  // namespace

OpCases control_cases() {
  return {{"scan", [](In in) { return rnn(in, {}); }},
          {"scan, reversed and recomputed",
           [](In in) {
             return rnn(in, {.gradient = graph::ScanGradient::kRecompute, .reverse = true});
           }},
          {"while", tripled_up_to_100}};
}

OpCases sort_cases() {
  return {
      {"sort",
       [](In in) {
         return graph::sort({in[0], in[1]}, 1);
       }},
      one("argsort", [](In in) { return graph::argsort(in[0], 0, {.descending = true}); }),
      {"top_k",
       [](In in) {
         const auto [values, indices] = graph::top_k(in[0], 3);
         return Values{values, indices};
       }},
      one("reduce_window_sum",
          [](In in) {
            return graph::reduce_window_sum(
                in[0],
                {.size = {1, 3}, .strides = {1, 2}, .padding_low = {0, 1}, .padding_high = {0, 1}});
          }),
      one("reduce_window_max", [](In in) {
        return graph::reduce_window_max(in[0], {.size = {2, 2}, .strides = {1, 2}});
      })};
}

OpCases structure_cases() {
  return {one("checkpoint", tanh_of_product),
          one("custom_vjp", rounded_straight_through),
          one("stop_gradient", [](In in) { return graph::stop_gradient(in[0]) * in[0]; }),
          {"optimization_barrier", [](In in) {
             return graph::optimization_barrier(Values{in[0] * in[1], in[0] + in[1]});
           }}};
}

OpCases kernel_cases() {
  return {
      one("kernels::matmul",
          [](In in) { return kernels::matmul(in[0], in[1], {.transpose_rhs = true}); }),
      one("kernels::layer_norm", [](In in) { return kernels::layer_norm(in[0], in[1], in[2]); }),
      one("kernels::rms_norm", [](In in) { return kernels::rms_norm(in[0], in[1]); }),
      one("kernels::bias_gelu", [](In in) { return kernels::bias_gelu(in[0], in[1]); }),
      one("kernels::depthwise_conv",
          [](In in) {
            return kernels::depthwise_conv(in[0], in[1], in[2],
                                           {.dilation = 2, .padding_low = 2, .padding_high = 1});
          }),
      one("kernels::embedding", [](In in) { return kernels::embedding(in[0], in[1]); }),
      {"kernels::polar",
       [](In in) {
         const auto [real, imag] = kernels::polar(in[0], 0.5);
         return Values{real, imag};
       }},
      {"kernels::mel_spectrum",
       [](In in) {
         const kernels::MelScale scale = {
             .window = graph::hann_window(8),
             .hop = 2,
             .bands = 3,
             .weights = {1, 0, 0, 0.5, 0.5, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 1},
             .epsilon = 0.1};
         const auto s = kernels::mel_spectrum(in[0], scale, /*with_magnitude=*/true);
         return Values{s.bands_BTM, s.magnitude_BTF};
       }},
      one("kernels::self_attention", [](In in) { return kernels::self_attention(in[0]); })};
}

}  // namespace hum::parity
