// Classifies the preset of a sound, as a judge of timbre. It is trained only on renderings of the
// presets, never on the output of a model. hum's Frechet distance compares its embeddings.
//
// B batch, N samples at 22,050 Hz, T frames, F bands, W width, E embedding size, C presets.
#pragma once

#include <vector>

#include "models/preset_classifier/config.h"
#include "nn/layers.h"
#include "nn/model_spec.h"
#include "nn/spectral_loss.h"

namespace hum::models::preset_classifier {

using graph::Value;

class PresetClassifier {
 public:
  // Throws: kFailure with fewer than two presets.
  explicit PresetClassifier(const PresetClassifierConfig& config);
  PresetClassifier(const PresetClassifier&) = delete;
  PresetClassifier& operator=(const PresetClassifier&) = delete;

  const PresetClassifierConfig& config() const { return config_; }
  const nn::ParameterList& parameters() const { return parameters_; }

  struct Prediction {
    Value embedding_BE;  // f32
    Value logits_BC;     // f32
  };
  // Independent of the level of a clip. Shapes: audio_BN f32, N at least a window.
  Prediction predict(const Value& audio_BN, graph::DType compute,
                     const nn::BlockOptions& blocks = {}) const;

  // Batch: audio f32[B,N], preset i32[B].
  nn::TrainSpec train_spec(const nn::StepShape& shape) const;

 private:
  Value log_bands(const Value& audio_BN) const;

  PresetClassifierConfig config_;
  nn::ParameterList parameters_;
  nn::MelScale scale_;
  nn::Linear in_, embedding_, head_;
  std::vector<nn::ConvNextBlock> blocks_;
  nn::Norm norm_;
};

}  // namespace hum::models::preset_classifier
