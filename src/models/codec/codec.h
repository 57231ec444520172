// The codec: STFT + ConvNeXt encoder, residual quantizer, ConvNeXt + inverse-STFT decoder. A split
// codec (config.h) has an encoder for each part of its latents.
//
// B batch, N samples (a multiple of the hop), T = N / 441 frames, F features, D latent size, S size
// of its sound part, K books.
// Source: structure after Siuzdak 2023 ("Vocos") and Kumar et al. 2023 (DAC); losses in
// nn/spectral_loss.h.
#pragma once

#include <vector>

#include "models/codec/codec_quantizer.h"
#include "models/codec/config.h"
#include "nn/layers.h"
#include "nn/model_spec.h"
#include "nn/spectral_loss.h"
#include "nn/waveform.h"

namespace hum::models::codec {

// ConvNeXt blocks at 50 frames/s. Shapes: features_BTF -> [B, T, latent].
class Encoder {
 public:
  struct Options {
    int64_t features, width, blocks, latent;
  };
  Encoder() = default;
  Encoder(const nn::Scope& scope, const Options& options);
  Value operator()(const Value& features_BTF, const nn::BlockOptions& blocks = {}) const;

 private:
  nn::Linear in_;
  std::vector<nn::ConvNextBlock> blocks_;
  nn::Norm norm_;
  nn::Linear to_latent_;
};

class Codec {
 public:
  // Throws: kConfig for a split that does not fit the latents or the books.
  explicit Codec(const CodecConfig& config);
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  const CodecConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }
  const CodecQuantizer& quantizer() const { return quantizer_; }

  // Continuous latents, before the quantizer. Shapes: audio_BN f32 -> BTD.
  Value latents(const Value& audio_BN) const;
  // Shapes: audio_BN -> i32[B,T,K].
  Value encode(const Value& audio_BN) const { return quantizer_.encode(latents(audio_BN)); }
  // Shapes: latents_BTD -> audio_BN.
  Value decode(const Value& latents_BTD, const nn::BlockOptions& blocks = {}) const;

  // Batch: audio f32[B,N].
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  // What the encoders see of a frame: log magnitude, and the spectrum with compressed magnitude.
  // Shapes: [B, T, window / 2 + 1] each.
  struct Features {
    Value level, real, imag;
  };
  // How a program computes the encoders.
  struct Tracing {
    graph::DType compute = graph::DType::kF32;
    nn::BlockOptions blocks = {};
  };
  Features features(const Value& audio_BN) const;
  // The parts of the latents, f32.
  Value sound_part(const Features& seen, const Tracing& tracing) const;
  Value phase_part(const Features& seen, const Tracing& tracing) const;
  Value both_parts(const Value& sound_BTS, const Features& seen, const Tracing& tracing) const;
  // What a shift of 1 to 5 ms changes in the sound part: mean square, relative to the variance.
  // Shapes: audio_BN f32, its sound part BTS -> scalar.
  Value sound_movement(const Value& audio_BN, const Value& sound_BTS, const Value& key,
                       const Tracing& tracing) const;

  CodecConfig config_;
  nn::ParameterList parameters_;
  Encoder encoder_, phase_encoder_;  // phase_encoder_: of a split codec
  CodecQuantizer quantizer_;
  nn::UpsamplingTrunk trunk_;
  nn::Linear head_, low_head_;
};

}  // namespace hum::models::codec
