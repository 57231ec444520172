// The codec's quantizer: one residual quantizer of its latents or, in a split codec, one of each
// part. The sound's books come first.
//
// B batch, T frames, D latent size, K books of both parts.
#pragma once

#include "models/codec/config.h"
#include "models/codec/quantizer.h"

namespace hum::models::codec {

class CodecQuantizer {
 public:
  CodecQuantizer() = default;
  CodecQuantizer(const nn::Scope& scope, const CodecConfig& config);

  // Items that keep the sound's books alone, or fewer (kept_books()), have a phase part of zeros,
  // which gets no gradient.
  ResidualQuantizer::Training train(const Value& latents_BTD, const nn::StepInputs& step) const;
  // Shapes: latents_BTD -> i32[B,T,K].
  Value encode(const Value& latents_BTD) const;
  // One book's code vectors for its codes, zero in the other part's dims.
  // Shapes: i32[...] -> [..., D].
  Value lookup(int64_t book, const Value& codes) const;

 private:
  int64_t books() const { return sound_books_ + phase_books_; }
  Value sound_part(const Value& latents_BTD) const;
  Value phase_part(const Value& latents_BTD) const;

  int64_t sound_books_ = 0, phase_books_ = 0, sound_latent_ = 0, phase_latent_ = 0;
  ResidualQuantizer sound_, phase_;  // phase_: of a split codec
};

}  // namespace hum::models::codec
