#include "nn/transformer.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/passes/rewrite.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/decoder_step/decoder_step.h"
#include "kernels/swiglu/swiglu.h"

namespace hum::nn {

using graph::convert;
using graph::DType;

void validate(const TransformerConfig& config, const Bounds& bounds) {
  constexpr int64_t kMostWidth = 65536;
  bounds.require("layers", config.layers, 1, 1024);
  bounds.require("width", config.width, 1, kMostWidth);
  bounds.require("heads", config.heads, 1, 1024);
  bounds.require("kv_heads", config.kv_heads, 1, config.heads);
  bounds.require("kv_heads", config.kv_heads, config.heads % config.kv_heads == 0,
                 fmt::format("use a divisor of heads, {}", config.heads));
  bounds.require("feed_forward", config.feed_forward, 1, 1 << 20);
  bounds.require("head_size", config.head_size, 0, kMostWidth);
  bounds.require("width", config.width, config.head_size > 0 || config.width % config.heads == 0,
                 fmt::format("use a multiple of heads, {}, or set head_size", config.heads));
  bounds.require("rotary_dim", config.rotary_dim, 0, config.head_dim());
  bounds.require("rotary_dim", config.rotary_dim, config.rotated() % 2 == 0,
                 "use an even number, or 0 with heads of an even size");
  bounds.require("rope_theta", config.rope_theta, 1, 1e12);
  bounds.require("rope_scaling.factor", config.rope_scaling.factor, 1e-3, 1e6);
  bounds.require("norm_epsilon", config.norm_epsilon, 0, 1);
}

Transformer::Transformer(const Scope& scope, const TransformerConfig& config) : config_(config) {
  HUM_REQUIRE(
      config.heads > 0 && config.kv_heads > 0 &&
          (config.head_size > 0 || config.width % config.heads == 0) &&
          config.heads % config.kv_heads == 0 && config.rotated() % 2 == 0 &&
          config.rotated() <= config.head_dim(),
      "transformer: width {}, heads {}, kv_heads {}, head_size {}, rotary_dim {} do not fit",
      config.width, config.heads, config.kv_heads, config.head_size, config.rotary_dim);
  rope_ = rope_rates(config.rotated(), config.rope_theta, config.rope_scaling);
  const int64_t d = config.head_dim(), groups = config.kv_heads, q_width = config.heads * d;
  // Residual outputs start smaller in deeper stacks (GPT-2's scaled initialisation).
  const double init = 0.02, residual = init / std::sqrt(2.0 * static_cast<double>(config.layers));
  const bool mlp_bias = config.bias || config.mlp_bias;
  for (int64_t i = 0; i < config.layers; ++i) {
    const Scope layer = scope.child("layers", i);
    const Scope attention = layer.child("attn"), mlp = layer.child("mlp");
    const auto first = static_cast<std::ptrdiff_t>(scope.list().all().size());
    Block block;
    block.attention_norm =
        Norm(layer.child("attn_norm"), config.norm, config.width, config.norm_epsilon);
    block.qkv =
        JoinedLinear(attention, "qkv_proj", config.width,
                     {{"q_proj", q_width}, {"k_proj", groups * d}, {"v_proj", groups * d}}, groups,
                     {groups, config.heads / groups + 2, d},
                     {.bias = config.bias || config.qkv_bias, .init = init, .hidden = true});
    block.out = Linear(attention.child("o_proj"), q_width, config.width,
                       {.bias = config.bias || config.out_bias, .init = residual, .hidden = true});
    block.feed_forward_norm =
        Norm(layer.child("mlp_norm"), config.norm, config.width, config.norm_epsilon);
    if (config.activation == Activation::kSwiGlu) {
      block.gate_up =
          JoinedLinear(mlp, "gate_up_proj", config.width,
                       {{"gate_proj", config.feed_forward}, {"up_proj", config.feed_forward}}, 1,
                       {2, config.feed_forward}, {.bias = mlp_bias, .init = init, .hidden = true});
    } else {
      block.up = Linear(mlp.child("up_proj"), config.width, config.feed_forward,
                        {.bias = mlp_bias, .init = init, .hidden = true});
    }
    block.down = Linear(mlp.child("down_proj"), config.feed_forward, config.width,
                        {.bias = mlp_bias, .init = residual, .hidden = true});
    const graph::Values declared = scope.list().values();
    block.parameters.assign(declared.begin() + first, declared.end());
    blocks_.push_back(std::move(block));
  }
  final_norm_ = Norm(scope.child("norm"), config.norm, config.width, config.norm_epsilon);
}

namespace {

// Shapes: mixed_BTHd -> BTD.
Value project_out(const Linear& out, const Value& mixed) {
  return out(graph::reshape(mixed, {mixed.size(0), mixed.size(1), mixed.size(2) * mixed.size(3)}));
}

}  // namespace

Value Transformer::project(const Block& block, const Value& x_BTD, const Value& positions_T) const {
  const Value qkv = block.qkv(block.attention_norm(x_BTD));
  if (!config_.rotary) return qkv;
  return rotate(qkv, /*members=*/qkv.size(3) - 1, positions_T, rope_);  // all but the value
}

Value Transformer::feed_forward(const Block& block, const Value& x_BTD) const {
  const Value y = block.feed_forward_norm(x_BTD);
  if (config_.activation == Activation::kSwiGlu) {
    return block.down(kernels::swiglu(block.gate_up(y)));
  }
  const Value& bias = block.up.bias();
  const Value none = graph::constant(0, {DType::kF32, {config_.feed_forward}});
  return block.down(kernels::bias_gelu(block.up.without_bias(y), bias ? bias : none));
}

Value Transformer::run(const Block& block, const Value& x_BTD, const Value& positions_T,
                       const Value& key_mask_BT) const {
  const Value qkv = project(block, x_BTD, positions_T);
  const Value mixed = kernels::self_attention(qkv, {.key_mask_BS = key_mask_BT});
  const Value x = x_BTD + project_out(block.out, mixed);
  return x + feed_forward(block, x);
}

Value Transformer::run_stacked(const BlockOptions& options, const Value& x_BTD,
                               const Value& positions_T, const Value& key_mask_BT) const {
  HUM_REQUIRE(options.recompute_every == 1,
              "transformer: stacked layers share one program, so recompute_every must be 1, got {}",
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
      return graph::replace_values(graph::Values{run(blocks_[0], x, positions_T, key_mask_BT)},
                                   slices)[0];
    });
    return graph::ScanResult{{y}, {}};
  };
  const auto layers = static_cast<int64_t>(blocks_.size());
  return graph::scan(layers, graph::Values{x_BTD}, stacks, body).carry[0];
}

Value Transformer::operator()(const Value& x_BTD, const Value& key_mask_BT,
                              const BlockOptions& options) const {
  const Value positions = graph::iota({DType::kI32, {x_BTD.size(1)}}, 0);
  if (options.stack_layers) {
    return final_norm_(run_stacked(options, x_BTD, positions, key_mask_BT));
  }
  Value x = x_BTD;
  int64_t index = 0;
  for (const Block& block : blocks_) {
    x = run_block(options, index++, x,
                  [&](const Value& in) { return run(block, in, positions, key_mask_BT); });
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

bool Transformer::has_kernel() const {
  const bool biases = config_.bias || config_.qkv_bias || config_.out_bias || config_.mlp_bias;
  return config_.norm == NormKind::kRms && config_.activation == Activation::kSwiGlu &&
         config_.rotary && !biases;
}

Transformer::Step Transformer::step_one(const Value& x_B1D, const KeyValueCache& cache,
                                        const Value& position, const Value& key_mask_BS) const {
  const DType dtype = x_B1D.dtype();
  std::vector<kernels::DecoderLayer> layers;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    layers.push_back({.attention_norm_D = convert(block.attention_norm.weight(), DType::kF32),
                      .qkv = block.qkv.matrix(dtype),
                      .out = block.out.matrix(dtype),
                      .feed_forward_norm_D = convert(block.feed_forward_norm.weight(), DType::kF32),
                      .gate_up = block.gate_up.matrix(dtype),
                      .down = block.down.matrix(dtype),
                      .keys_BSGd = cache.keys[i],
                      .values_BSGd = cache.values[i]});
  }
  const Value waves = rotary_waves(graph::reshape(position, {1}), rope_);
  auto result = kernels::decoder_step(
      {.x_B1D = x_B1D, .waves_12h = waves, .position = position, .key_mask_BS = key_mask_BS},
      layers, config_.norm_epsilon);
  return {final_norm_(result.y_B1D), {std::move(result.keys_BSGd), std::move(result.values_BSGd)}};
}

Transformer::Step Transformer::step(const Value& x_BTD, const KeyValueCache& cache,
                                    const Value& first, const Value& key_mask_BS) const {
  if (x_BTD.size(1) == 1 && has_kernel()) return step_one(x_BTD, cache, first, key_mask_BS);
  const Value positions_T = graph::iota({DType::kI32, {x_BTD.size(1)}}, 0) + first;
  const Value zero = graph::constant(0, {DType::kI32, {}});
  Step result{x_BTD, {}};
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const Value qkv = project(block, result.y_BTD, positions_T);
    const int64_t members = qkv.size(3) - 2;
    const graph::Values at = {zero, first, zero, zero};
    const auto cached = [&](const Value& all, int64_t member) {
      return graph::dynamic_update_slice(all, kernels::heads_of_groups(qkv, member, member + 1),
                                         at);
    };
    const Value k = result.cache.keys.emplace_back(cached(cache.keys[i], members));
    const Value v = result.cache.values.emplace_back(cached(cache.values[i], members + 1));
    const Value mixed = kernels::attention(kernels::heads_of_groups(qkv, 0, members), k, v,
                                           {.key_mask_BS = key_mask_BS, .first = first});
    result.y_BTD = result.y_BTD + project_out(block.out, mixed);
    result.y_BTD = result.y_BTD + feed_forward(block, result.y_BTD);
  }
  result.y_BTD = final_norm_(result.y_BTD);
  return result;
}

}  // namespace hum::nn
