// The ear: a transcriber of one voice, which learns from synthetic singers. Convolutions alone.
// From two spectra with three bins a semitone it finds, for every 10 ms, whether a voice sounds,
// its pitch, the pitch of the note that sounds (the same through vibrato and glides), and whether a
// note begins or ends. The decoder (decoder.h) turns these into notes.
//
// B batch, N samples at 22,050 Hz, T frames, F bins of a spectrum, S semitones, C channels, W
// width, P pitches of 20 cents.
#pragma once

#include <vector>

#include "models/ear/config.h"
#include "nn/layers.h"
#include "nn/model_spec.h"

namespace hum::models::ear {

using graph::Value;

// A residual block over time and semitones, with the same weights at every semitone: two depthwise
// convolutions, then a pointwise network. Shapes: x_BTSC -> BTSC.
class PitchBlock {
 public:
  PitchBlock() = default;
  PitchBlock(const nn::Scope& scope, int64_t channels, double residual_scale);
  Value operator()(const Value& x_BTSC) const;

 private:
  double residual_scale_ = 1;
  Value time_KC_, time_bias_C_, pitch_KC_, pitch_bias_C_;
  nn::Norm norm_;
  nn::Linear up_, down_;
};

class Ear {
 public:
  explicit Ear(const EarConfig& config);
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  const EarConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }

  // Logits, f32.
  struct Prediction {
    Value voiced_BT, onset_BT, offset_BT;
    Value f0_BTP, note_BTP;
  };
  // The recording's level must be normalised: active_rms 0.1. Shapes: audio_BN f32, N a multiple of
  // kHop.
  Prediction predict(const Value& audio_BN, graph::DType compute,
                     const nn::BlockOptions& blocks = {}) const;

  // Batch: audio f32[B,N]; f32[B,T] each: f0 and note, in bins of 20 cents with fractions, below 0
  // where there is none; onset and offset, 1 at the frame and less around it.
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  Value stacked_spectra(const Value& audio_BN) const;
  Value spectrum(const Value& audio_BN, int64_t window_samples,
                 const std::vector<float>& weights) const;

  EarConfig config_;
  nn::ParameterList parameters_;
  std::vector<float> onset_weights_, pitch_weights_;  // [bins of the FFT, kBins and their partials]
  nn::Linear into_width_;
  Value stack_KIO_, stack_bias_, semitone_KIO_, semitone_bias_;
  std::vector<PitchBlock> pitch_blocks_;
  std::vector<nn::ConvNextBlock> blocks_;
  nn::Norm norm_;
  nn::Linear events_, pitches_, local_pitches_;
};

}  // namespace hum::models::ear
