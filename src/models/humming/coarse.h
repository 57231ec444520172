// The coarse LM: the first codebook's tokens of the target, frame by frame, from the melody and a
// timbre reference.
//
// B batch, T frames, L = T + coarse_books - 1 sequence steps, W width, K coarse books, V
// vocabulary.
#pragma once

#include <memory>
#include <vector>

#include "models/humming/conditioning.h"
#include "models/humming/config.h"
#include "nn/layers.h"
#include "nn/model_spec.h"
#include "nn/transformer.h"

namespace hum::models::humming {

using graph::Value;

class Coarse {
 public:
  explicit Coarse(const CoarseConfig& config);
  Coarse(const Coarse&) = delete;
  Coarse& operator=(const Coarse&) = delete;

  const CoarseConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }
  // Elements of the published model alone: tables, blocks, final norm, heads.
  int64_t core_parameters() const { return core_parameters_; }

  // Teacher-forced logits, one set a coarse book. codes: the true tokens, of which step t sees
  // those before t. Shapes: codes i32[B,T,>=K] -> K of [B,L,V] f32.
  graph::Values logits(const Value& codes_BTK, const Conditions& conditions, graph::DType compute,
                       const nn::BlockOptions& blocks = {}) const;

  struct Sampling {
    Value key;          // u32[2]
    Value temperature;  // f32 scalar; 0: greedy
    Value top_k;        // i32 scalar; vocabulary size: all
    Value top_p;        // f32 scalar; 1: all
    Value guidance;     // f32 scalar; 1: none
    Value frames;       // i32 scalar, 1..T: the loop ends after so many
  };
  // The whole generation loop as one program. Draws depend on the key and the step alone, so fewer
  // frames are the same frames. Those that were not asked for hold vocabulary - 1. Shapes:
  // conditions of one item (B = 1) -> codes i32[1,T,K].
  Value generate(const Conditions& conditions, const Sampling& sampling,
                 graph::DType compute) const;

  bool uses_draft() const { return conditioning_->uses_draft(); }
  // Batch: codes i32[B,T,books], melody, reference latents, reference frames, and the draft where
  // it is used.
  nn::TrainSpec train_spec(int64_t batch, int64_t frames, int64_t reference_frames,
                           graph::DType compute) const;

 private:
  // Tokens shifted by the delay pattern: book k of frame t stands at step t + k. Shapes: ->
  // i32[B,L,K].
  Value delayed(const Value& codes_BTK) const;
  Value embed(const Value& tokens_BLK, graph::DType compute) const;
  graph::Values heads(const Value& y_BLW) const;
  nn::Loss loss(std::span<const Value> inputs, const nn::StepInputs& step,
                graph::DType compute) const;

  CoarseConfig config_;
  nn::ParameterList parameters_;
  int64_t core_parameters_ = 0;
  std::vector<Value> tables_;
  std::vector<nn::Linear> heads_;
  nn::Transformer transformer_;
  Value codebooks_KED_;
  std::unique_ptr<Conditioning> conditioning_;
};

}  // namespace hum::models::humming
