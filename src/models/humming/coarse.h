// The coarse LM generates the first codebook's tokens of the target, frame by frame, from the
// melody and a timbre reference.
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
  // Number of elements of the published model alone: tables, blocks, final norm, heads.
  int64_t core_parameters() const { return core_parameters_; }

  // Teacher-forced logits, one set per coarse book. codes: the true tokens, of which step t sees
  // those before t. Shapes: codes i32[B,T,>=K] -> K of [B,L,V] f32.
  graph::Values logits(const Value& codes_BTK, const Conditions& conditions, graph::DType compute,
                       const nn::BlockOptions& blocks = {}) const;

  // The sampling of each of B items. Classifier-free guidance mixes logits l(melody, timbre):
  //   l(-, -) + timbre_guidance (l(-, t) - l(-, -)) + melody_guidance (l(m, t) - l(-, t)),
  // with three rows of the decoder per item. Without its own timbre_guidance, melody_guidance
  // applies to both, and two rows are enough: l(-, -) + guidance (l(m, t) - l(-, -)). The order
  // follows from the draft, which contains part of the timbre and is present only with the melody.
  struct Sampling {
    Value key_B2;             // u32
    Value temperature_B;      // f32; 0: greedy
    Value top_k_B;            // i32; vocabulary size: all
    Value top_p_B;            // f32; 1: all
    Value melody_guidance_B;  // f32; 1: none
    Value timbre_guidance_B;  // f32; may be absent
    Value guided_frames_B;    // i32, 0..T: later frames are sampled without guidance
    Value frames_B;           // i32, 1..T: later frames are not sampled
  };
  // The whole generation loop as one program, as long as the longest item. An item's draws depend
  // only on its key and the step, not on the other items or the number of requested frames. Frames
  // that are not requested hold vocabulary - 1. conditions: the flags are not read. Shapes: ->
  // codes i32[B,T,K].
  Value generate(const Conditions& conditions, const Sampling& sampling,
                 graph::DType compute) const;

  bool uses_draft() const { return conditioning_->uses_draft(); }
  // Batch: codes i32[B,T,books], melody, reference latents, reference frames, and the draft if it
  // is used.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  // Shifts tokens by the delay pattern: book k of frame t moves to step t + k. Shapes: ->
  // i32[B,L,K].
  Value delayed(const Value& codes_BTK) const;
  Value embed(const Value& tokens_BLK, graph::DType compute) const;
  graph::Values heads(const Value& y_BLW) const;
  // Samples one step's tokens of all items. Shapes: logits K of [rows,1,V], index i32[] ->
  // i32[B,1,K].
  Value next_tokens(const graph::Values& logits, const Sampling& sampling,
                    const Value& index) const;
  // The inverse of delayed(). Shapes: i32[B,L,K] -> i32[B,T,K].
  Value undelayed(const Value& tokens_BLK) const;
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
