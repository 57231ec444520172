// The non-autoregressive upsampler predicts the next book's tokens and the whole latent vector of
// all frames at once, from the books known so far (none: the "draft"), the melody and a timbre
// reference.
//
// B batch, T frames, S reference frames, K books, D latent size, M melody features.
// Source: stage-conditioned NAR as in VALL-E (Wang et al. 2023); FiLM conditioning; a regression
// head in place of tokens for the fine books, whose cross-entropy is noise at this size.
#pragma once

#include <vector>

#include "models/humming/config.h"
#include "models/humming/timbre_encoder.h"
#include "nn/layers.h"
#include "nn/model_spec.h"

namespace hum::models::humming {

using graph::Value;

class Upsampler {
 public:
  enum class Trains { kAllStages, kDraft };
  explicit Upsampler(const UpsamplerConfig& config, Trains trains = Trains::kAllStages);
  Upsampler(const Upsampler&) = delete;
  Upsampler& operator=(const Upsampler&) = delete;

  const UpsamplerConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }
  // The codec's code vectors [K, entries, D], a buffer copied from the codec.
  const Value& codebooks() const { return codebooks_KED_; }

  // Whether it needs the melody of references.
  bool attends() const { return config_.timbre == TimbreKind::kAttended; }
  // What all stages take from a timbre reference.
  struct Timbre {
    Value pooled_BR;  // pooled_reference
    // If the upsampler attends: of each attention, and the mask of all.
    std::vector<TimbreAttention::Keys> keys;
    Value mask_BS;
  };
  Timbre timbre(const Reference& reference, graph::DType compute = graph::DType::kF32,
                const nn::BlockOptions& blocks = {}) const;

  struct Prediction {
    // The whole latent vector, all books together.
    Value latents_BTD;
    // Hidden state for logits().
    Value hidden_BTW;
  };
  // known_BTD: sum of the code vectors of the first `stage_B` books (zeros at stage 0).
  // Shapes: known_BTD, melody_BTM, stage_B i32.
  Prediction predict(const Value& known_BTD, const Value& melody_BTM, const Timbre& timbre,
                     const Value& stage_B, const nn::BlockOptions& blocks = {}) const;
  // Logits of book index `book` (1-based books 2..classified_books are indices 1..). Shapes: ->
  // [B,T,entries] f32.
  Value logits(int64_t book, const Value& hidden_BTW) const;
  // Code vectors of one book. Shapes: i32[B,T] -> BTD.
  Value lookup(int64_t book, const Value& codes_BT) const;
  // The input of stage `stage_B` (0..classified_books): the summed code vectors of that many true
  // books. Shapes: i32[B,T,>=classified_books], i32[B] -> BTD.
  Value known(const Value& codes_BTK, const Value& stage_B) const;
  // The sum of the code vectors of the first `books` books. Shapes: i32[B,T,K] -> BTD.
  Value decode(const Value& codes_BTK, int64_t books) const;

  // Batch: codes i32[B,T,K], latents f32[B,T,D] (quantised, all books), melody [B,T,M],
  // reference latents [B,S,D], reference frames i32[B]; and the reference's melody [B,S,M] if the
  // upsampler attends.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  nn::Loss loss(std::span<const Value> inputs, const nn::StepInputs& step,
                graph::DType compute) const;
  // The stage that each item trains. Shapes: -> i32[B].
  Value drawn_stages(int64_t batch, const Value& key) const;

  UpsamplerConfig config_;
  Trains trains_;
  nn::ParameterList parameters_;
  Value codebooks_KED_, stage_table_;
  nn::Linear in_, condition_, condition_out_;
  std::vector<nn::ConvNextBlock> blocks_;
  TimbreEncoder encoder_;
  std::vector<TimbreAttention> attentions_;  // before blocks 0, kBlocksPerAttention, ...
  nn::Norm norm_;
  nn::Linear regression_;
  std::vector<nn::Linear> heads_;
};

// An upsampler that trains stage 0 alone. Beside an upsampler it makes the drafts: nothing else
// competes for its weights, and its targets need not be tokens (data/features/phase_free.h). One
// with classified_books: 1 has no heads for tokens.
class Predictor : public Upsampler {
 public:
  explicit Predictor(const UpsamplerConfig& config) : Upsampler(config, Trains::kDraft) {}
};

}  // namespace hum::models::humming
