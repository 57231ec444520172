#include "models/codec/dac_layers.h"

#include <cmath>

#include "kernels/conv1d/conv1d.h"

namespace hum::models::codec {

namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

Value weight_norm(const Value& g_O11, const Value& v_OIK) {
  const Value square = graph::reduce_sum(v_OIK * v_OIK, {1, 2}, /*keepdims=*/true);
  return v_OIK * (g_O11 / graph::sqrt(square));
}

Value snake(const Value& x_BTC, const Value& alpha_1C1) {
  const Value alpha_C = graph::reshape(alpha_1C1, {alpha_1C1.size(1)});
  const Value wave = graph::sine(alpha_C * x_BTC);
  return x_BTC + wave * wave / (alpha_C + 1e-9);
}

DacConv::DacConv(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t out,
                 Options options)
    : options_(options) {
  const int64_t first = options.transposed ? in : out, second = options.transposed ? out : in;
  const graph::Dims dims = {first, second, options.kernel};
  Value weight;
  if (weights == DacWeights::kFolded) {
    const auto fan_in = static_cast<double>(second * options.kernel);
    weight = scope.declare("weight", dims, nn::Init::normal(1 / std::sqrt(fan_in)));
  } else {
    const Value g = scope.declare("weight_g", {first, 1, 1}, nn::Init::ones());
    weight = weight_norm(g, scope.declare("weight_v", dims, nn::Init::normal(0.02)));
  }
  kernel_KIO_ =
      graph::transpose(weight, options.transposed ? graph::Dims{2, 0, 1} : graph::Dims{2, 1, 0});
  bias_O_ = scope.declare("bias", {out}, nn::Init::zeros());
}

Value DacConv::operator()(const Value& x_BTI, DacEdges edges) const {
  const int64_t padding = edges == DacEdges::kPadded ? options_.padding : 0;
  const graph::Conv1dOptions options{.stride = options_.stride,
                                     .dilation = options_.dilation,
                                     .padding_low = padding,
                                     .padding_high = padding};
  const Value y = options_.transposed ? kernels::conv_transpose1d(x_BTI, kernel_KIO_, options)
                                      : kernels::conv1d(x_BTI, kernel_KIO_, options);
  return y + bias_O_;
}

int64_t DacConv::unpadded_length(int64_t input) const {
  const int64_t reach = options_.dilation * (options_.kernel - 1);
  return options_.transposed ? (input - 1) * options_.stride + reach + 1
                             : floor_divide(input - reach - 1, options_.stride) + 1;
}

int64_t DacConv::needed_length(int64_t result) const {
  const int64_t reach = options_.dilation * (options_.kernel - 1);
  if (!options_.transposed) return (result - 1) * options_.stride + reach + 1;
  return -floor_divide(-(result - reach - 1), options_.stride) + 1;
}

DacResidualUnit::DacResidualUnit(const nn::Scope& scope, DacWeights weights, int64_t channels,
                                 int64_t dilation) {
  const nn::Scope block = scope.child("block");
  first_alpha_ = block.child("0").declare("alpha", {1, channels, 1}, nn::Init::ones());
  wide_ = DacConv(block.child("1"), weights, channels, channels,
                  {.kernel = 7, .dilation = dilation, .padding = 3 * dilation});
  second_alpha_ = block.child("2").declare("alpha", {1, channels, 1}, nn::Init::ones());
  pointwise_ = DacConv(block.child("3"), weights, channels, channels);
}

Value DacResidualUnit::operator()(const Value& x_BTC, DacEdges edges) const {
  const Value wide = wide_(snake(x_BTC, first_alpha_), edges);
  const Value y = pointwise_(snake(wide, second_alpha_), edges);
  const int64_t cut = (x_BTC.size(1) - y.size(1)) / 2;
  return graph::slice_in_dim(x_BTC, 1, cut, cut + y.size(1)) + y;
}

}  // namespace hum::models::codec
