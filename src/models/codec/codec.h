// The codec: STFT + ConvNeXt encoder, residual quantizer, ConvNeXt + inverse-STFT decoder.
//
// B batch, N samples (a multiple of the hop), T = N / 441 frames, D latent size, K books.
// Source: structure after Siuzdak 2023 ("Vocos") and Kumar et al. 2023 (DAC); losses in
// nn/spectral_loss.h.
#pragma once

#include <vector>

#include "models/codec/config.h"
#include "models/codec/quantizer.h"
#include "nn/layers.h"
#include "nn/model_spec.h"
#include "nn/spectral_loss.h"
#include "nn/waveform.h"

namespace hum::models::codec {

class Codec {
 public:
  explicit Codec(const CodecConfig& config);
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  const CodecConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }
  const ResidualQuantizer& quantizer() const { return quantizer_; }

  // Continuous latents, before the quantizer. Shapes: audio_BN f32 -> BTD.
  Value latents(const Value& audio_BN) const;
  // Shapes: audio_BN -> i32[B,T,K].
  Value encode(const Value& audio_BN) const { return quantizer_.encode(latents(audio_BN)); }
  // Shapes: latents_BTD -> audio_BN.
  Value decode(const Value& latents_BTD, const nn::BlockOptions& blocks = {}) const;

  // Batch: audio f32[B,N].
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  Value features(const Value& audio_BN) const;

  CodecConfig config_;
  nn::ParameterList parameters_;
  nn::Linear in_, to_latent_;
  std::vector<nn::ConvNextBlock> encoder_;
  nn::Norm encoder_norm_;
  ResidualQuantizer quantizer_;
  nn::UpsamplingTrunk trunk_;
  nn::Linear head_, low_head_;
};

}  // namespace hum::models::codec
