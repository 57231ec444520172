#include "nn/transformer.h"

#include <cmath>

#include "base/error.h"

namespace hum::nn {

using graph::convert;
using graph::DType;

Transformer::Transformer(const Scope& scope, const TransformerConfig& config) : config_(config) {
  HUM_REQUIRE(
      (config.head_size > 0 || config.width % config.heads == 0) &&
          config.heads % config.kv_heads == 0 && config.rotated() % 2 == 0 &&
          config.rotated() <= config.head_dim(),
      "transformer: width {}, heads {}, kv_heads {}, head_size {}, rotary_dim {} do not fit",
      config.width, config.heads, config.kv_heads, config.head_size, config.rotary_dim);
  rope_ = rope_rates(config.rotated(), config.rope_theta, config.rope_scaling);
  const int64_t d = config.head_dim(), groups = config.kv_heads, q_width = config.heads * d;
  // Residual outputs start smaller the deeper the stack (GPT-2's scaled initialisation).
  const double init = 0.02, residual = init / std::sqrt(2.0 * static_cast<double>(config.layers));
  const bool mlp_bias = config.bias || config.mlp_bias;
  for (int64_t i = 0; i < config.layers; ++i) {
    const Scope layer = scope.child("layers", i);
    const Scope attention = layer.child("attn"), mlp = layer.child("mlp");
    Block block;
    block.attention_norm =
        Norm(layer.child("attn_norm"), config.norm, config.width, config.norm_epsilon);
    block.qkv = JoinedLinear(attention, "qkv_proj", config.width,
                             {{"q_proj", q_width}, {"k_proj", groups * d}, {"v_proj", groups * d}},
                             groups, {groups, config.heads / groups + 2, d},
                             {.bias = config.bias || config.qkv_bias, .init = init});
    block.out = Linear(attention.child("o_proj"), q_width, config.width,
                       {.bias = config.bias || config.out_bias, .init = residual});
    block.feed_forward_norm =
        Norm(layer.child("mlp_norm"), config.norm, config.width, config.norm_epsilon);
    if (config.activation == Activation::kSwiGlu) {
      block.gate_up =
          JoinedLinear(mlp, "gate_up_proj", config.width,
                       {{"gate_proj", config.feed_forward}, {"up_proj", config.feed_forward}}, 1,
                       {2, config.feed_forward}, {.bias = mlp_bias, .init = init});
    } else {
      block.up = Linear(mlp.child("up_proj"), config.width, config.feed_forward,
                        {.bias = mlp_bias, .init = init});
    }
    block.down = Linear(mlp.child("down_proj"), config.feed_forward, config.width,
                        {.bias = mlp_bias, .init = residual});
    blocks_.push_back(std::move(block));
  }
  final_norm_ = Norm(scope.child("norm"), config.norm, config.width, config.norm_epsilon);
}

Transformer::Projected Transformer::project(const Block& block, const Value& x_BTD,
                                            const Value& positions_T) const {
  const int64_t batch = x_BTD.size(0), length = x_BTD.size(1), d = config_.head_dim();
  const int64_t groups = config_.kv_heads, per_group = config_.heads / groups;
  const Value qkv_BTGRd = block.qkv(block.attention_norm(x_BTD));  // R: per_group + 2
  auto heads = [&](int64_t from, int64_t to) {
    return graph::reshape(graph::slice_in_dim(qkv_BTGRd, 3, from, to),
                          {batch, length, groups * (to - from), d});
  };
  return {rotate(heads(0, per_group), positions_T, rope_),
          rotate(heads(per_group, per_group + 1), positions_T, rope_),
          heads(per_group + 1, per_group + 2)};
}

Value Transformer::attend(const Projected& p, const Value& keys_BSGd, const Value& values_BSGd,
                          const Value& allowed_BTS) const {
  const int64_t batch = p.q_BTHd.size(0), length = p.q_BTHd.size(1), d = config_.head_dim();
  const int64_t groups = config_.kv_heads, per_group = config_.heads / groups;
  const Value q_BTGRd = graph::reshape(p.q_BTHd * (1 / std::sqrt(static_cast<double>(d))),
                                       {batch, length, groups, per_group, d});
  // [B, G, T, R, S]
  const Value scores = graph::dot_general(
      q_BTGRd, keys_BSGd,
      {.lhs_batch = {0, 2}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {3}},
      DType::kF32);
  const Value allowed = graph::reshape(allowed_BTS, {batch, 1, length, 1, allowed_BTS.size(2)});
  const Value weights = graph::softmax(graph::select(allowed > 0, scores, -1e9), 4);
  // [B, G, T, R, d]
  const Value mixed = graph::dot_general(
      convert(weights, p.q_BTHd.dtype()), values_BSGd,
      {.lhs_batch = {0, 1}, .rhs_batch = {0, 2}, .lhs_contracting = {4}, .rhs_contracting = {1}},
      p.q_BTHd.dtype());
  return graph::reshape(graph::transpose(mixed, {0, 2, 1, 3, 4}),
                        {batch, length, config_.heads * d});
}

Value Transformer::feed_forward(const Block& block, const Value& x_BTD) const {
  const Value y = block.feed_forward_norm(x_BTD);
  if (config_.activation == Activation::kGeluNew) return block.down(graph::gelu_new(block.up(y)));
  const Value both_BT2F = block.gate_up(y);
  auto half = [&](int64_t index) {
    return graph::reshape(graph::slice_in_dim(both_BT2F, 2, index, index + 1),
                          {y.size(0), y.size(1), config_.feed_forward});
  };
  return block.down(graph::silu(half(0)) * half(1));
}

Value Transformer::operator()(const Value& x_BTD, const Value& key_mask_BT) const {
  const int64_t batch = x_BTD.size(0), length = x_BTD.size(1);
  const Value positions = graph::iota({DType::kI32, {length}}, 0);
  const Value causal = graph::iota({DType::kI32, {length, length}}, 1) <=
                       graph::iota({DType::kI32, {length, length}}, 0);
  const Value allowed_BTS =
      convert(causal, DType::kF32) * graph::reshape(key_mask_BT, {batch, 1, length});
  Value x = x_BTD;
  for (const Block& block : blocks_) {
    const Projected p = project(block, x, positions);
    x = x + block.out(attend(p, p.k_BTGd, p.v_BTGd, allowed_BTS));
    x = x + feed_forward(block, x);
  }
  return final_norm_(x);
}

KeyValueCache Transformer::empty_cache(int64_t batch, int64_t positions, DType dtype) const {
  KeyValueCache cache;
  const graph::Shape shape{dtype, {batch, positions, config_.kv_heads, config_.head_dim()}};
  for (int64_t i = 0; i < config_.layers; ++i) {
    cache.keys.push_back(graph::constant(0, shape));
    cache.values.push_back(graph::constant(0, shape));
  }
  return cache;
}

Transformer::Step Transformer::step(const Value& x_BTD, const KeyValueCache& cache,
                                    const Value& first, const Value& key_mask_BS) const {
  const int64_t batch = x_BTD.size(0), length = x_BTD.size(1), cached = key_mask_BS.size(1);
  const Value positions_T = graph::iota({DType::kI32, {length}}, 0) + first;
  const Value past =
      graph::iota({DType::kI32, {length, cached}}, 1) <= graph::reshape(positions_T, {length, 1});
  const Value allowed_BTS =
      convert(past, DType::kF32) * graph::reshape(key_mask_BS, {batch, 1, cached});
  const Value zero = graph::constant(0, {DType::kI32, {}});
  Step result{x_BTD, {}};
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const Projected p = project(block, result.y_BTD, positions_T);
    const graph::Values at = {zero, first, zero, zero};
    const Value keys = graph::dynamic_update_slice(cache.keys[i], p.k_BTGd, at);
    const Value values = graph::dynamic_update_slice(cache.values[i], p.v_BTGd, at);
    result.cache.keys.push_back(keys);
    result.cache.values.push_back(values);
    result.y_BTD = result.y_BTD + block.out(attend(p, keys, values, allowed_BTS));
    result.y_BTD = result.y_BTD + feed_forward(block, result.y_BTD);
  }
  result.y_BTD = final_norm_(result.y_BTD);
  return result;
}

}  // namespace hum::nn
