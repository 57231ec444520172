// A pre-norm transformer block in which every position sees all others: attention, then swiglu.
//
// B batch, T positions, D width.
// Source: Vaswani et al. 2017; Su et al. 2021 (rotary positions); Shazeer 2020 (swiglu).
#pragma once

#include "nn/layers.h"
#include "nn/rope.h"

namespace hum::models::separator {

using graph::Value;

class AttentionBlock {
 public:
  struct Options {
    int64_t width, heads;
    // Without, a position is known only by what its features say.
    bool rotary = false;
    // Of what the block adds to its input, before training.
    double residual_scale = 1;
  };
  AttentionBlock(const nn::Scope& scope, const Options& options);
  // Shapes: x_BTD -> BTD.
  Value operator()(const Value& x_BTD) const;

 private:
  bool rotary_;
  nn::RopeRates rope_;
  nn::Norm attention_norm_, feed_forward_norm_;
  nn::JoinedLinear qkv_, gate_up_;
  nn::Linear out_, down_;
};

}  // namespace hum::models::separator
