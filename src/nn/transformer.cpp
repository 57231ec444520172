#include "nn/transformer.h"

#include <cmath>

#include "base/error.h"
#include "graph/passes/rewrite.h"

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
    const auto first = static_cast<std::ptrdiff_t>(scope.list().all().size());
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
    const graph::Values declared = scope.list().values();
    block.parameters.assign(declared.begin() + first, declared.end());
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
    return rotate(x, positions_T, config_.rotated(), config_.rope_theta);
  };
  return {rotated(heads(block.q, config_.heads)), rotated(heads(block.k, config_.kv_heads)),
          heads(block.v, config_.kv_heads)};
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
  return graph::reshape(graph::transpose(mixed, {0, 2, 1, 3, 4}), {batch, length, config_.width});
}

Value Transformer::feed_forward(const Block& block, const Value& x_BTD) const {
  const Value y = block.feed_forward_norm(x_BTD);
  const Value hidden = config_.activation == Activation::kSwiGlu
                           ? graph::silu(block.gate(y)) * block.up(y)
                           : graph::gelu_new(block.up(y));
  return block.down(hidden);
}

Value Transformer::run(const Block& block, const Value& x_BTD, const Value& positions_T,
                       const Value& allowed_BTS) const {
  const Projected p = project(block, x_BTD, positions_T);
  const Value x = x_BTD + block.out(attend(p, p.k_BTGd, p.v_BTGd, allowed_BTS));
  return x + feed_forward(block, x);
}

Value Transformer::run_stacked(const BlockOptions& options, const Value& x_BTD,
                               const Value& positions_T, const Value& allowed_BTS) const {
  HUM_REQUIRE(options.recompute_every == 1,
              "transformer: every {}th of stacked layers is another "
              "program than the rest: recompute all of them, or do not stack",
              options.recompute_every);
  const graph::Values& first = blocks_[0].parameters;
  graph::Values stacks;
  for (size_t p = 0; p < first.size(); ++p) {
    graph::Dims one = first[p].dims();
    one.insert(one.begin(), 1);
    graph::Values layers;
    for (const Block& block : blocks_) layers.push_back(graph::reshape(block.parameters[p], one));
    stacks.push_back(graph::concatenate(layers, 0));
  }
  const auto body = [&](const graph::ScanStep& step) {
    const Value y = run_block(options, 0, step.carry[0], [&](const Value& x) {
      std::vector<std::pair<Value, Value>> slices;
      for (size_t p = 0; p < first.size(); ++p) slices.emplace_back(first[p], step.xs[p]);
      return graph::replace_values(graph::Values{run(blocks_[0], x, positions_T, allowed_BTS)},
                                   slices)[0];
    });
    return graph::ScanResult{{y}, {}};
  };
  const auto layers = static_cast<int64_t>(blocks_.size());
  return graph::scan(layers, graph::Values{x_BTD}, stacks, body).carry[0];
}

Value Transformer::operator()(const Value& x_BTD, const Value& key_mask_BT,
                              const BlockOptions& options) const {
  const int64_t batch = x_BTD.size(0), length = x_BTD.size(1);
  const Value positions = graph::iota({DType::kI32, {length}}, 0);
  const Value causal = graph::iota({DType::kI32, {length, length}}, 1) <=
                       graph::iota({DType::kI32, {length, length}}, 0);
  const Value allowed_BTS =
      convert(causal, DType::kF32) * graph::reshape(key_mask_BT, {batch, 1, length});
  if (options.stack_layers) {
    return final_norm_(run_stacked(options, x_BTD, positions, allowed_BTS));
  }
  Value x = x_BTD;
  int64_t index = 0;
  for (const Block& block : blocks_) {
    x = run_block(options, index++, x,
                  [&](const Value& in) { return run(block, in, positions, allowed_BTS); });
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
