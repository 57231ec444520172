// A decoder-only transformer: pre-norm blocks, rotary positions, grouped-query attention; norm,
// activation, biases and rotary size are config. Runs whole sequences for training, and one step at
// a time with a key-value cache for generation.
//
// B batch, T positions, S cached positions, D width, H heads, d head size.
// Source: Vaswani et al. 2017; Su et al. 2021 (rotary); Shazeer 2020 (SwiGLU); Ainslie et al. 2023
// (grouped query).
#pragma once

#include <vector>

#include "base/bounds.h"
#include "base/fields.h"
#include "kernels/attention/attention.h"
#include "nn/blocks.h"
#include "nn/layers.h"
#include "nn/rope.h"

namespace hum::nn {

enum class Activation { kSwiGlu, kGeluNew };
inline EnumNames<Activation> enum_names(Activation) {
  static constexpr std::pair<Activation, std::string_view> kNames[] = {
      {Activation::kSwiGlu, "swiglu"}, {Activation::kGeluNew, "gelu_new"}};
  return kNames;
}
inline EnumNames<NormKind> enum_names(NormKind) {
  static constexpr std::pair<NormKind, std::string_view> kNames[] = {{NormKind::kRms, "rms"},
                                                                     {NormKind::kLayer, "layer"}};
  return kNames;
}

struct TransformerConfig {
  int64_t layers = 6;
  int64_t width = 256;
  int64_t heads = 4;
  int64_t kv_heads = 4;
  int64_t feed_forward = 768;
  NormKind norm = NormKind::kRms;
  Activation activation = Activation::kSwiGlu;
  // In all linear layers, or only in: queries, keys, values; the attention output; feed-forward.
  bool bias = false;
  // False: the causal mask is the only position information.
  bool rotary = true;
  bool qkv_bias = false;
  bool out_bias = false;
  bool mlp_bias = false;
  // Size of each head; 0: width / heads.
  int64_t head_size = 0;
  // Rotated leading part of each head; 0: the whole head.
  int64_t rotary_dim = 0;
  double rope_theta = 10000;
  RopeScaling rope_scaling;
  double norm_epsilon = 1e-5;

  int64_t head_dim() const { return head_size > 0 ? head_size : width / heads; }
  int64_t rotated() const { return rotary_dim > 0 ? rotary_dim : head_dim(); }

  template <class V>
  void visit_fields(V& v) {
    v("layers", layers, "number of blocks");
    v("width", width, "model width");
    v("heads", heads, "attention heads");
    v("kv_heads", kv_heads, "key-value heads (divides heads)");
    v("feed_forward", feed_forward, "hidden size of the feed-forward layer");
    v("norm", norm, "rms or layer");
    v("activation", activation, "swiglu or gelu_new");
    v("bias", bias, "biases in all linear layers");
    v("rotary", rotary, "rotate queries and keys by their position");
    v("qkv_bias", qkv_bias, "biases of queries, keys and values");
    v("out_bias", out_bias, "bias of the attention's output");
    v("mlp_bias", mlp_bias, "biases of the feed-forward layers");
    v("head_size", head_size, "size of each head (0: width / heads)");
    v("rotary_dim", rotary_dim, "rotated part of each head (0: all of it)");
    v("rope_theta", rope_theta, "base of the rotary frequencies");
    v("rope_scaling", rope_scaling, "scaling of rotary positions beyond the original training's");
    v("norm_epsilon", norm_epsilon, "added to the variance");
  }
};

// Throws: kConfig for sizes and shares that are out of range or do not fit each other.
void validate(const TransformerConfig& config, const Bounds& bounds);

// Keys and values of all layers: [layers][B, S, kv_heads, d].
struct KeyValueCache {
  graph::Values keys, values;
};

class Transformer {
 public:
  Transformer() = default;
  Transformer(const Scope& scope, const TransformerConfig& config);

  // Causal attention over the whole sequence; keys with key_mask_BT = 0 (f32) are ignored (without
  // a mask, all keys are used).
  // Shapes: x_BTD -> BTD, after the final norm.
  Value operator()(const Value& x_BTD, const Value& key_mask_BT = {},
                   const BlockOptions& options = {}) const;

  KeyValueCache empty_cache(int64_t batch, int64_t positions, graph::DType dtype) const;
  struct Step {
    Value y_BTD;
    KeyValueCache cache;
  };
  // Runs new positions first..first+T-1 (first: i32 scalar) against the cache and adds them to it.
  // Shapes: x_BTD, key_mask_BS over all cached positions (without a mask: all positions up to the
  // query's).
  Step step(const Value& x_BTD, const KeyValueCache& cache, const Value& first,
            const Value& key_mask_BS = {}) const;

 private:
  struct Block {
    Norm attention_norm, feed_forward_norm;
    JoinedLinear qkv, gate_up;
    Linear out, up, down;
    // All of its placeholders, in the same order and with the same shapes in every block.
    graph::Values parameters;
  };
  // Whether kernels::decoder_step computes these blocks.
  bool has_kernel() const;
  // One new position through all blocks at once.
  Step step_one(const Value& x_B1D, const KeyValueCache& cache, const Value& position,
                const Value& key_mask_BS) const;
  // Concatenated queries, keys and values of the heads, with positions applied.
  // Shapes: -> qkv[B, T, kv_heads, heads / kv_heads + 2, d].
  Value project(const Block& block, const Value& x_BTD, const Value& positions_T) const;
  Value feed_forward(const Block& block, const Value& x_BTD) const;
  // One block over the whole sequence.
  Value run(const Block& block, const Value& x_BTD, const Value& positions_T,
            const Value& key_mask_BT) const;
  // All blocks as one scan over their stacked parameters.
  Value run_stacked(const BlockOptions& options, const Value& x_BTD, const Value& positions_T,
                    const Value& key_mask_BT) const;

  TransformerConfig config_;
  RopeRates rope_;
  std::vector<Block> blocks_;
  Norm final_norm_;
};

}  // namespace hum::nn
