#include "models/codec/codec_quantizer.h"

#include <utility>

namespace hum::models::codec {

using graph::DType;

namespace {

// Derives the key of the phase's books from the step's, which the sound's books use themselves.
constexpr int64_t kPhaseDraws = 1001;

QuantizerConfig with_books(QuantizerConfig config, int64_t books) {
  config.books = books;
  return config;
}

}  // namespace

CodecQuantizer::CodecQuantizer(const nn::Scope& scope, const CodecConfig& config)
    : sound_books_(config.sound_books()),
      phase_books_(config.phase_books),
      sound_latent_(config.sound_latent()),
      phase_latent_(config.phase_latent),
      sound_(config.is_split() ? scope.child("sound") : scope,
             with_books(config.quantizer, sound_books_), sound_latent_) {
  if (!config.is_split()) return;
  phase_ = ResidualQuantizer(scope.child("phase"), with_books(config.quantizer, phase_books_),
                             phase_latent_);
}

Value CodecQuantizer::sound_part(const Value& latents_BTD) const {
  return graph::slice_in_dim(latents_BTD, 2, 0, sound_latent_);
}

Value CodecQuantizer::phase_part(const Value& latents_BTD) const {
  return graph::slice_in_dim(latents_BTD, 2, sound_latent_, sound_latent_ + phase_latent_);
}

ResidualQuantizer::Training CodecQuantizer::train(const Value& latents_BTD,
                                                  const nn::StepInputs& step) const {
  const int64_t batch = latents_BTD.size(0);
  const Value kept_B = kept_books(batch, sound_books_, books(), step);
  if (phase_books_ == 0) return sound_.train(latents_BTD, kept_B, step);

  auto result = sound_.train(sound_part(latents_BTD), kept_B, step);
  const Value kept_phase_B = kept_B - static_cast<double>(sound_books_);
  nn::StepInputs phase_step = step;
  phase_step.key = graph::fold_in(step.key, kPhaseDraws);
  auto phase = phase_.train(phase_part(latents_BTD), kept_phase_B, phase_step);
  const Value has_phase_B11 =
      graph::reshape(convert(kept_phase_B > 0.0, DType::kF32), {batch, 1, 1});
  result.latents_BTD =
      graph::concatenate({result.latents_BTD, phase.latents_BTD * has_phase_B11}, 2);

  // Means over the books of both.
  const double share = static_cast<double>(sound_books_) / static_cast<double>(books());
  const auto mean_of = [&](const Value& of_sound, const Value& of_phase) {
    return of_sound * share + of_phase * (1 - share);
  };
  result.loss = mean_of(result.loss, phase.loss);
  if (result.usage) result.usage = mean_of(result.usage, phase.usage);
  for (auto& update : phase.buffer_updates) result.buffer_updates.push_back(std::move(update));
  return result;
}

Value CodecQuantizer::encode(const Value& latents_BTD) const {
  if (phase_books_ == 0) return sound_.encode(latents_BTD);
  return graph::concatenate(
      {sound_.encode(sound_part(latents_BTD)), phase_.encode(phase_part(latents_BTD))}, 2);
}

Value CodecQuantizer::lookup(int64_t book, const Value& codes) const {
  if (phase_books_ == 0) return sound_.lookup(book, codes);
  const bool is_sound = book < sound_books_;
  const Value vectors =
      is_sound ? sound_.lookup(book, codes) : phase_.lookup(book - sound_books_, codes);
  const int64_t dim = codes.rank();  // the new last one
  return is_sound ? graph::pad_in_dim(vectors, 0, dim, 0, phase_latent_)
                  : graph::pad_in_dim(vectors, 0, dim, sound_latent_, 0);
}

}  // namespace hum::models::codec
