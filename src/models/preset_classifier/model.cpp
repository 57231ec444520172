#include "models/preset_classifier/model.h"

#include <cmath>

#include "base/error.h"
#include "kernels/matmul/matmul.h"
#include "models/mel_scale.h"
#include "nn/waveform.h"

namespace hum::models::preset_classifier {

using graph::convert;
using graph::DType;

namespace {

constexpr double kSampleRateHz = 22050;
constexpr double kFloor = 1e-3;  // 60 dB below the clip's loudest band
constexpr double kSmallestPeak = 1e-5;

}  // namespace

PresetClassifier::PresetClassifier(const PresetClassifierConfig& config) : config_(config) {
  const auto presets = static_cast<int64_t>(config.presets.size());
  HUM_REQUIRE(presets >= 2, "a preset classifier needs two presets or more, not {}", presets);
  const auto make_scale = config.spacing == Spacing::kMel ? mel_scale : octave_scale;
  scale_ = make_scale(config.window_samples, config.hop_samples, config.bands);
  const nn::Scope root(parameters_);
  in_ = nn::Linear(root.child("in"), config.bands, config.width);
  blocks_ =
      nn::convnext_stack(root, config.blocks, {.width = config.width, .hidden = 3 * config.width});
  norm_ = nn::Norm(root.child("norm"), nn::NormKind::kLayer, config.width);
  embedding_ = nn::Linear(root.child("embedding"), config.width, config.embedding);
  // Small, so that all presets are equally likely before training.
  head_ = nn::Linear(root.child("head"), config.embedding, presets, {.init = 0.02});
}

// log10 of the bands' magnitudes relative to the clip's largest, -3..0, centred around zero.
// Shapes: -> BTF.
Value PresetClassifier::log_bands(const Value& audio_BN) const {
  const Value magnitude = nn::magnitude(audio_BN, scale_.window_samples, scale_.hop_samples);
  const Value weights = graph::constant(std::span<const float>(scale_.weights),
                                        {scale_.window_samples / 2 + 1, scale_.bands});
  const Value bands = kernels::matmul(magnitude, weights);
  const Value peak =
      graph::maximum(graph::reduce_max(bands, {1, 2}, /*keepdims=*/true), kSmallestPeak);
  return graph::log(graph::maximum(bands / peak, kFloor)) * (1 / std::log(10.0)) + 1.5;
}

PresetClassifier::Prediction PresetClassifier::predict(const Value& audio_BN, DType compute,
                                                       const nn::BlockOptions& blocks) const {
  const Value x = nn::run_blocks(blocks, blocks_, in_(convert(log_bands(audio_BN), compute)));
  const Value pooled_BW = graph::mean(convert(norm_(x), DType::kF32), {1});
  const Value embedding_BE = embedding_(pooled_BW);
  return {embedding_BE, head_(graph::gelu_new(embedding_BE))};
}

nn::TrainSpec PresetClassifier::train_spec(const nn::StepShape& shape) const {
  auto loss = [this, compute = shape.compute](std::span<const Value> inputs,
                                              const nn::StepInputs& step) {
    const Value& preset_B = inputs[1];
    const Value logits_BC = predict(inputs[0], compute, step.blocks).logits_BC;
    const Value hit = equal(graph::argmax(logits_BC, 1), preset_B);
    return nn::Loss{.total = graph::mean_all(graph::softmax_cross_entropy(logits_BC, preset_B)),
                    .metrics = {{"accuracy", graph::mean_all(convert(hit, DType::kF32))}}};
  };
  const int64_t batch = shape.batch, samples = shape.samples;
  return {.name = "classifier",
          .parameters = &parameters_,
          .batch = {{"audio", {DType::kF32, {batch, samples}}}, {"preset", {DType::kI32, {batch}}}},
          .loss = std::move(loss),
          .units_per_batch = static_cast<double>(batch * samples) / kSampleRateHz,
          .unit = "audio s"};
}

}  // namespace hum::models::preset_classifier
