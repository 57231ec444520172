#include "models/separator/attention_block.h"

#include <cmath>

#include "kernels/attention/attention.h"
#include "kernels/swiglu/swiglu.h"

namespace hum::models::separator {

AttentionBlock::AttentionBlock(const nn::Scope& scope, const Options& options)
    : rotary_(options.rotary) {
  const int64_t width = options.width, heads = options.heads, head = width / heads,
                hidden = 3 * width;
  const auto residual = [&](int64_t in) {
    return nn::Linear::Options{.bias = false,
                               .init = options.residual_scale / std::sqrt(static_cast<double>(in)),
                               .hidden = true};
  };
  if (rotary_) rope_ = nn::rope_rates(head, 10000);
  attention_norm_ = nn::Norm(scope.child("attn_norm"), nn::NormKind::kRms, width);
  qkv_ = nn::JoinedLinear(scope.child("attn"), "qkv_proj", width,
                          {{"q_proj", width}, {"k_proj", width}, {"v_proj", width}}, heads,
                          {heads, /*a query, its key, its value*/ 3, head},
                          {.bias = false, .hidden = true});
  out_ = nn::Linear(scope.child("attn").child("o_proj"), width, width, residual(width));
  feed_forward_norm_ = nn::Norm(scope.child("mlp_norm"), nn::NormKind::kRms, width);
  gate_up_ = nn::JoinedLinear(scope.child("mlp"), "gate_up_proj", width,
                              {{"gate_proj", hidden}, {"up_proj", hidden}}, 1, {2, hidden},
                              {.bias = false, .hidden = true});
  down_ = nn::Linear(scope.child("mlp").child("down_proj"), hidden, width, residual(hidden));
}

Value AttentionBlock::operator()(const Value& x_BTD) const {
  Value qkv_BTH3d = qkv_(attention_norm_(x_BTD));
  if (rotary_) {
    const Value positions_T = graph::iota({graph::DType::kI32, {x_BTD.size(1)}}, 0);
    qkv_BTH3d = nn::rotate(qkv_BTH3d, /*members=*/2, positions_T, rope_);
  }
  const Value mixed_BTHd = kernels::self_attention(qkv_BTH3d, {.causal = false});
  const Value x = x_BTD + out_(graph::reshape(mixed_BTHd, x_BTD.dims()));
  return x + down_(kernels::swiglu(gate_up_(feed_forward_norm_(x))));
}

}  // namespace hum::models::separator
