// Llama: token embedding, nn::Transformer, output matrix.
//
// B batch, T positions, V vocabulary, W width.
// Source: Touvron et al. 2023, "LLaMA"; Hugging Face transformers' modeling_llama.py.
#pragma once

#include "models/llama/config.h"
#include "nn/model_spec.h"

namespace hum::models::llama {

using graph::Value;

class Llama {
 public:
  explicit Llama(const LlamaConfig& config, nn::Storage storage = {});
  Llama(const Llama&) = delete;
  Llama& operator=(const Llama&) = delete;

  const LlamaConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }

  // The logits at position t predict the token after tokens 0..t. Shapes: i32[B,T] -> f32[B,T,V].
  Value logits(const Value& tokens_BT, graph::DType compute) const;

  struct Generated {
    Value tokens_1N;  // i32; values after `count` are undefined
    Value count;      // i32 scalar
  };
  // The most likely continuation, with the whole loop as one program with a key-value cache. It
  // ends after `count` (i32 scalar, at most `room`) tokens or with an end token. The prompt has
  // `length` (i32 scalar) tokens. Shapes: prompt_1P -> tokens [1, room].
  Generated generate(const Value& prompt_1P, const Value& length, const Value& count, int64_t room,
                     graph::DType compute) const;

  // Batch: tokens i32[B,T], targets i32[B,T] (negative: ignored). Loss: mean cross-entropy.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  nn::Loss loss(const Value& tokens_BT, const Value& targets_BT, graph::DType compute,
                const nn::BlockOptions& blocks) const;
  Value embed(const Value& tokens_BT, graph::DType compute) const;
  Value head(const Value& y_BTW) const;

  LlamaConfig config_;
  nn::ParameterList parameters_;
  Value table_VW_, head_VW_;
  nn::Transformer transformer_;
};

}  // namespace hum::models::llama
