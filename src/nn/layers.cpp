#include "nn/layers.h"

#include <cmath>

#include "base/error.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/depthwise_conv/depthwise_conv.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/matmul/matmul.h"

namespace hum::nn {

using graph::convert;
using graph::DType;

Linear::Linear(const Scope& scope, int64_t in, int64_t out, Options options) {
  const double deviation = options.init > 0 ? options.init : 1 / std::sqrt(static_cast<double>(in));
  const Init init = Init::normal(deviation);
  weight_ = options.hidden ? scope.declare_hidden("weight", {out, in}, init)
                           : scope.declare("weight", {out, in}, init);
  if (options.bias) bias_ = scope.declare("bias", {out}, Init::zeros());
}

Value Linear::without_bias(const Value& x) const {
  return kernels::matmul(x, matrix(x.dtype()), {.transpose_rhs = true});
}

Value Linear::operator()(const Value& x) const {
  const Value y = without_bias(x);
  return bias_ ? y + convert(bias_, y.dtype()) : y;
}

JoinedLinear::JoinedLinear(const Scope& scope, const std::string& name, int64_t in,
                           const std::vector<Part>& parts, int64_t groups, graph::Dims layout,
                           Linear::Options options)
    : layout_(std::move(layout)) {
  const double deviation = options.init > 0 ? options.init : 1 / std::sqrt(static_cast<double>(in));
  std::vector<JoinedPart> weights, biases;
  for (const Part& part : parts) {
    const int64_t share = part.out / groups;
    weights.push_back({part.name + ".weight",
                       {part.out, in},
                       {groups, share, in},
                       Init::normal(deviation),
                       options.hidden});
    biases.push_back({part.name + ".bias", {part.out}, {groups, share}, Init::zeros()});
  }
  graph::Dims weight_dims = layout_;
  weight_dims.push_back(in);
  weight_ = scope.declare_joined(name + ".weight", weights, weight_dims);
  if (options.bias) bias_ = scope.declare_joined(name + ".bias", biases, layout_);
}

Value JoinedLinear::matrix(DType dtype) const {
  const int64_t in = weight_.size(-1);
  return convert(graph::reshape(weight_, {weight_.shape().elements() / in, in}), dtype);
}

Value JoinedLinear::operator()(const Value& x) const {
  const Value y = kernels::matmul(x, matrix(x.dtype()), {.transpose_rhs = true});
  graph::Dims dims(x.dims().begin(), x.dims().end() - 1);
  dims.insert(dims.end(), layout_.begin(), layout_.end());
  const Value laid_out = graph::reshape(y, dims);
  return bias_ ? laid_out + convert(bias_, y.dtype()) : laid_out;
}

Norm::Norm(const Scope& scope, NormKind kind, int64_t width, double epsilon)
    : kind_(kind), epsilon_(epsilon) {
  weight_ = scope.declare("weight", {width}, Init::ones());
  if (kind == NormKind::kLayer) bias_ = scope.declare("bias", {width}, Init::zeros());
}

Value Norm::operator()(const Value& x) const {
  return kind_ == NormKind::kLayer ? kernels::layer_norm(x, weight_, bias_, epsilon_)
                                   : kernels::rms_norm(x, weight_, epsilon_);
}

Film::Film(const Scope& scope, int64_t condition, int64_t width)
    : scale_shift_(scope, condition, 2 * width, {.init = 0.02}), width_(width) {}

Value Film::operator()(const Value& x_BTD, const Value& condition_BC) const {
  HUM_REQUIRE(bool(condition_BC), "Film: no condition was given");
  const Value both = scale_shift_(convert(condition_BC, x_BTD.dtype()));
  const Value per_item = graph::reshape(both, {both.size(0), 1, 2 * width_});
  const Value scale = graph::slice_in_dim(per_item, 2, 0, width_);
  const Value shift = graph::slice_in_dim(per_item, 2, width_, 2 * width_);
  return x_BTD * (scale + 1) + shift;
}

ConvNextBlock::ConvNextBlock(const Scope& scope, const Options& options)
    : options_(options),
      norm_(scope.child("norm"), NormKind::kLayer, options.width),
      up_(scope.child("up"), options.width, options.hidden, {.hidden = true}),
      down_(scope.child("down"), options.hidden, options.width, {.hidden = true}) {
  const double half_width = 1 / std::sqrt(static_cast<double>(options.kernel));
  kernel_KD_ =
      scope.declare("conv.weight", {options.kernel, options.width}, Init::uniform(half_width));
  kernel_bias_D_ = scope.declare("conv.bias", {options.width}, Init::zeros());
  residual_scale_D_ = scope.declare("residual_scale", {options.width}, Init::ones());
  if (options.condition > 0) film_ = Film(scope.child("film"), options.condition, options.width);
}

Value ConvNextBlock::operator()(const Value& x_BTD, const Value& condition_BC) const {
  const int64_t past = options_.causal ? options_.kernel - 1 : options_.kernel / 2;
  const int64_t future = options_.kernel - 1 - past;
  const DType dtype = x_BTD.dtype();
  Value y = norm_(kernels::depthwise_conv(x_BTD, kernel_KD_, kernel_bias_D_,
                                          {.padding_low = past, .padding_high = future}));
  if (options_.condition > 0) y = film_(y, condition_BC);
  y = down_(kernels::bias_gelu(up_.without_bias(y), up_.bias()));
  return x_BTD + y * convert(residual_scale_D_ * options_.residual_scale, dtype);
}

Value masked_mean(const Value& x, const Value& mask) {
  const Value wide = graph::broadcast_to(mask, x.dims());
  return graph::sum_all(x * wide) / graph::maximum(graph::sum_all(wide), 1);
}

}  // namespace hum::nn
