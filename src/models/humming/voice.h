// The guided decoder predicts the gains of a harmonic excitation and of noise per time-frequency
// bin. Pitch and phase come from the excitation, which is rendered from the notes; latents carry
// timbre, dynamics, attack and release. A free branch, if configured, predicts pitch and phase too.
//
// B batch, N samples, T = N / 441 frames, D latent size, M melody features.
// Source: a learned source-filter in the spirit of DDSP (Engel et al. 2020), with an STFT filter.
#pragma once

#include "models/humming/config.h"
#include "nn/model_spec.h"
#include "nn/waveform.h"

namespace hum::models::humming {

using graph::Value;

class Voice {
 public:
  // Throws: kConfig for values that fit no window or piece.
  explicit Voice(const VoiceConfig& config);
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;

  const VoiceConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }

  // Shapes: latents_BTD, melody_BTM, excitation_BN, noise_BN -> audio_BN (f32).
  Value render(const Value& latents_BTD, const Value& melody_BTM, const Value& excitation_BN,
               const Value& noise_BN, const nn::BlockOptions& blocks = {}) const;

  // As render(), with noise that the step draws and, for some items of a training, without
  // excitation.
  Value render_in_training(const Value& latents_BTD, const Value& melody_BTM,
                           const Value& excitation_BN, const nn::StepInputs& step) const;
  // How far sound is from the target, whose notes the melody gives.
  nn::Loss sound_loss(const Value& rendered_BN, const Value& audio_BN,
                      const Value& melody_BTM) const;

  // Batch: audio[B,N], latents[B,T,D], melody[B,T,M], excitation[B,N]; the step draws the noise.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  // Shapes: coarse_BTW, fine: of the trunk -> [B, N].
  Value free_sound(const Value& coarse_BTW, const Value& fine) const;
  Value onset_loss(const Value& rendered_BN, const Value& audio_BN, const Value& melody_BTM) const;

  VoiceConfig config_;
  nn::ParameterList parameters_;
  nn::UpsamplingTrunk trunk_;
  nn::Linear head_, free_head_, free_low_head_;
};

}  // namespace hum::models::humming
