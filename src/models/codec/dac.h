// Descript's codec: strided convolutions to latents, a residual quantizer, and transposed
// convolutions back. It loads the published weights (dac_weights.h). It has gradients, but hum does
// not train it.
//
// B batch, N samples, T frames, D latent size, K books.
// Source: Kumar et al. 2023, "High-fidelity audio compression with improved RVQGAN";
// descript-audio-codec 1.0.0, dac/model/dac.py and dac/model/base.py.
#pragma once

#include <span>
#include <vector>

#include "models/codec/dac_config.h"
#include "models/codec/dac_layers.h"
#include "models/codec/dac_quantizer.h"

namespace hum::models::codec {

class Dac {
 public:
  // Throws: see require_valid().
  explicit Dac(const DacConfig& config, DacWeights weights = DacWeights::kFolded);
  Dac(const Dac&) = delete;
  Dac& operator=(const Dac&) = delete;

  const DacConfig& config() const { return config_; }
  // Names are those of the published files; folded kernels are "<conv>.weight".
  const nn::ParameterList& parameters() const { return parameters_; }
  const DacQuantizer& quantizer() const { return quantizer_; }

  // Continuous latents, before the quantizer.
  // Shapes: audio_BN, N whole hops (kUnpadded: any length that is not too short) -> BTD, T = N /
  // hop.
  Value latents(const Value& audio_BN, DacEdges edges = DacEdges::kPadded) const;
  // Shapes: audio_BN -> i32[B, T, K].
  Value encode(const Value& audio_BN, DacEdges edges = DacEdges::kPadded) const {
    return quantizer_.quantise(latents(audio_BN, edges)).codes_BTK;
  }
  // Samples are in [-1, 1]. Shapes: latents_BTD -> audio_BN; N = T hop for even rates; each odd
  // rate shortens it by the product of the rates after it, as in the original.
  Value decode(const Value& latents_BTD, DacEdges edges = DacEdges::kPadded) const;

  // Number of output samples of the whole codec without padding; 0 or less: the input is too short.
  int64_t unpadded_samples(int64_t samples) const;
  // Number of zeros to add before (and after) sound that is coded in chunks without padding.
  int64_t delay_samples() const;

 private:
  struct Block {
    Value alpha;
    DacConv resample;
    DacResidualUnit units[3];
  };
  Block encoder_block(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t rate);
  Block decoder_block(const nn::Scope& scope, DacWeights weights, int64_t in, int64_t out,
                      int64_t rate);
  void declare_encoder(const nn::Scope& scope, DacWeights weights);
  void declare_decoder(const nn::Scope& scope, DacWeights weights);
  // Every convolution with a receptive field larger than one, in the order of the signal path.
  std::vector<const DacConv*> path() const;

  DacConfig config_;
  nn::ParameterList parameters_;
  DacConv encoder_in_, encoder_out_, decoder_in_, decoder_out_;
  Value encoder_alpha_, decoder_alpha_;
  std::vector<Block> encoder_, decoder_;
  DacQuantizer quantizer_;
};

}  // namespace hum::models::codec
