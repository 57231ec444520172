#include "nn/transformer.h"

#include <cmath>

#include "base/error.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/swiglu/swiglu.h"

namespace hum::nn {

using graph::convert;
using graph::DType;

namespace {

// Rotates the first `rotated` elements of each head by position-dependent angles, halves paired as
// in Llama.
Value rotate(const Value& x_BTHd, const Value& positions_T, int64_t rotated, double theta) {
  const int64_t half = rotated / 2, head = x_BTHd.size(3), length = x_BTHd.size(1);
  std::vector<float> frequencies;
  for (int64_t i = 0; i < half; ++i) {
    frequencies.push_back(static_cast<float>(
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotated))));
  }
  const Value rates = graph::constant(std::span<const float>(frequencies), {half});
  const Value angles = graph::reshape(
      graph::reshape(convert(positions_T, DType::kF32), {length, 1}) * rates, {length, 1, half});
  const Value c = convert(graph::cosine(angles), x_BTHd.dtype());
  const Value s = convert(graph::sine(angles), x_BTHd.dtype());
  const Value a = graph::slice_in_dim(x_BTHd, 3, 0, half);
  const Value b = graph::slice_in_dim(x_BTHd, 3, half, rotated);
  graph::Values parts = {a * c - b * s, b * c + a * s};
  if (rotated < head) parts.push_back(graph::slice_in_dim(x_BTHd, 3, rotated, head));
  return graph::concatenate(parts, 3);
}

}  // namespace

Transformer::Transformer(const Scope& scope, const TransformerConfig& config) : config_(config) {
  HUM_REQUIRE(config.width % config.heads == 0 && config.heads % config.kv_heads == 0 &&
                  config.rotated() % 2 == 0 && config.rotated() <= config.head_dim(),
              "transformer: width {}, heads {}, kv_heads {}, rotary_dim {} do not fit",
              config.width, config.heads, config.kv_heads, config.rotary_dim);
  const int64_t kv_width = config.kv_heads * config.head_dim();
  const bool gated = config.activation == Activation::kSwiGlu;
  const Linear::Options options{.bias = config.bias, .init = 0.02};
  // Residual outputs start smaller the deeper the stack (GPT-2's scaled initialisation).
  const Linear::Options residual{
      .bias = config.bias, .init = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers))};
  for (int64_t i = 0; i < config.layers; ++i) {
    const Scope layer = scope.child("layers", i);
    const Scope attention = layer.child("attn"), mlp = layer.child("mlp");
    Block block;
    block.attention_norm =
        Norm(layer.child("attn_norm"), config.norm, config.width, config.norm_epsilon);
    block.q = Linear(attention.child("q_proj"), config.width, config.width, options);
    block.k = Linear(attention.child("k_proj"), config.width, kv_width, options);
    block.v = Linear(attention.child("v_proj"), config.width, kv_width, options);
    block.out = Linear(attention.child("o_proj"), config.width, config.width, residual);
    block.feed_forward_norm =
        Norm(layer.child("mlp_norm"), config.norm, config.width, config.norm_epsilon);
    if (gated) {
      block.gate = Linear(mlp.child("gate_proj"), config.width, config.feed_forward, options);
    }
    block.up = Linear(mlp.child("up_proj"), config.width, config.feed_forward, options);
    block.down = Linear(mlp.child("down_proj"), config.feed_forward, config.width, residual);
    blocks_.push_back(std::move(block));
  }
  final_norm_ = Norm(scope.child("norm"), config.norm, config.width, config.norm_epsilon);
}

Transformer::Projected Transformer::project(const Block& block, const Value& x_BTD,
                                            const Value& positions_T) const {
  const int64_t batch = x_BTD.size(0), length = x_BTD.size(1), d = config_.head_dim();
  const Value y = block.attention_norm(x_BTD);
  auto heads = [&](const Linear& linear, int64_t count) {
    return graph::reshape(linear(y), {batch, length, count, d});
  };
  auto rotated = [&](const Value& x) {
    return config_.rotary ? rotate(x, positions_T, config_.rotated(), config_.rope_theta) : x;
  };
  return {rotated(heads(block.q, config_.heads)), rotated(heads(block.k, config_.kv_heads)),
          heads(block.v, config_.kv_heads)};
}

Value Transformer::attend(const Block& block, const Projected& p,
                          const kernels::AttentionOptions& options) const {
  const Value mixed = kernels::attention(p.q_BTHd, p.k_BTGd, p.v_BTGd, options);
  return block.out(
      graph::reshape(mixed, {mixed.size(0), mixed.size(1), mixed.size(2) * mixed.size(3)}));
}

Value Transformer::feed_forward(const Block& block, const Value& x_BTD) const {
  const Value y = block.feed_forward_norm(x_BTD);
  if (config_.activation == Activation::kSwiGlu) {
    return block.down(kernels::swiglu(block.gate(y), block.up(y)));
  }
  const Value& bias = block.up.bias();
  const Value none = graph::constant(0, {DType::kF32, {config_.feed_forward}});
  return block.down(kernels::bias_gelu(block.up.without_bias(y), bias ? bias : none));
}

Value Transformer::operator()(const Value& x_BTD, const Value& key_mask_BT) const {
  const Value positions = graph::iota({DType::kI32, {x_BTD.size(1)}}, 0);
  Value x = x_BTD;
  for (const Block& block : blocks_) {
    x = x + attend(block, project(block, x, positions), {.key_mask_BS = key_mask_BT});
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
  const Value positions_T = graph::iota({DType::kI32, {x_BTD.size(1)}}, 0) + first;
  const Value zero = graph::constant(0, {DType::kI32, {}});
  Step result{x_BTD, {}};
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    Projected p = project(block, result.y_BTD, positions_T);
    const graph::Values at = {zero, first, zero, zero};
    p.k_BTGd = graph::dynamic_update_slice(cache.keys[i], p.k_BTGd, at);
    p.v_BTGd = graph::dynamic_update_slice(cache.values[i], p.v_BTGd, at);
    result.cache.keys.push_back(p.k_BTGd);
    result.cache.values.push_back(p.v_BTGd);
    result.y_BTD = result.y_BTD + attend(block, p, {.key_mask_BS = key_mask_BS, .first = first});
    result.y_BTD = result.y_BTD + feed_forward(block, result.y_BTD);
  }
  result.y_BTD = final_norm_(result.y_BTD);
  return result;
}

}  // namespace hum::nn
