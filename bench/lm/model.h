// The language model of the whole-step benches: the 25.7M-parameter transformer that the engine was
// first measured with (8 layers of 512, 8 heads, GELU of 2048, LayerNorm, no biases, no positions,
// tied head over 1024 words), 8 sequences of 512. It is only used for timing against peers.
//
// B batch, T positions, D width, V vocabulary.
#pragma once

#include "nn/model_spec.h"
#include "nn/transformer.h"

namespace hum::bench {

struct LmSize {
  int64_t batch = 8;
  int64_t length = 512;
  int64_t vocabulary = 1024;
  nn::TransformerConfig transformer = {.layers = 8,
                                       .width = 512,
                                       .heads = 8,
                                       .kv_heads = 8,
                                       .feed_forward = 2048,
                                       .norm = nn::NormKind::kLayer,
                                       .activation = nn::Activation::kGeluNew,
                                       .rotary = false};
};

class Lm {
 public:
  explicit Lm(const LmSize& size);
  Lm(const Lm&) = delete;
  Lm& operator=(const Lm&) = delete;

  const nn::ParameterList& parameters() const { return parameters_; }
  // Batch: tokens i32[B,T+1]; the loss is the mean cross-entropy of each next token.
  nn::TrainSpec train_spec(graph::DType compute) const;

 private:
  nn::Loss loss(const graph::Value& tokens_BT1, graph::DType compute,
                const nn::BlockOptions& blocks) const;

  LmSize size_;
  nn::ParameterList parameters_;
  graph::Value table_VD_;
  nn::Transformer transformer_;
};

}  // namespace hum::bench
