// Trains the predictor and the guided decoder together on sound. Latents are a means: those of the
// predictor need not be the codec's if what the decoder makes of them is nearer to the target.
//
// B batch, T frames, N = T 441 samples, D latent size, S reference frames; M melody features that
// the predictor reads, V those of the voice.
#pragma once

#include "models/humming/upsampler.h"
#include "models/humming/voice.h"

namespace hum::models::humming {

struct JointConfig {
  UpsamplerConfig predictor;
  VoiceConfig voice;
  // Weight of the L1 between the predictor's latents and the codec's, which keeps them where other
  // models know them.
  double latent_weight = 0.25;

  template <class V>
  void visit_fields(V& v) {
    v("predictor", predictor, "the predictor");
    v("voice", voice, "the guided decoder");
    v("latent_weight", latent_weight, "weight of the latents' distance from the codec's");
  }
};

// Throws: kConfig for what the validations of the two throw.
void validate(const JointConfig& config, const Bounds& bounds);

class Joint {
 public:
  // Throws: kConfig for latents of different sizes, several channels, and what Voice throws.
  explicit Joint(const JointConfig& config);
  Joint(const Joint&) = delete;
  Joint& operator=(const Joint&) = delete;

  const JointConfig& config() const { return config_; }
  // Those of both, under the prefixes "predictor." and "voice.".
  const nn::ParameterList& parameters() const { return parameters_; }

  // Batch: audio [B,N]; latents [B,T,D] of the codec; melody [B,T,M] as heard; played [B,T,V] and
  // excitation [B,N] of the notes that the target plays; reference [B,S,D], reference_frames
  // i32[B]; reference_melody [B,S,M] if the predictor attends.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  nn::Loss loss(std::span<const Value> inputs, const nn::StepInputs& step,
                graph::DType compute) const;

  JointConfig config_;
  Predictor predictor_;
  Voice voice_;
  nn::ParameterList parameters_;
};

}  // namespace hum::models::humming
