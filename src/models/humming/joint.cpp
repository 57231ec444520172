#include "models/humming/joint.h"

#include "base/error.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

constexpr int64_t kHopSamples = 441;

void require_one_channel(const JointConfig& config) {
  const CommonConfig &predictor = config.predictor.common, &voice = config.voice.common;
  if (predictor.channels == audio::Channels::kMono && predictor.latent == voice.latent) return;
  fail(ExitCode::kConfig,
       fmt::format("joint: a predictor of {}, latents of {}, and a voice with latents of {}",
                   to_name(predictor.channels), predictor.latent, voice.latent),
       "use channels: mono, and the same latent in predictor.common and voice.common");
}

}  // namespace

void validate(const JointConfig& config, const Bounds& bounds) {
  validate(config.predictor, bounds.of("predictor"));
  validate(config.voice, bounds.of("voice"));
  bounds.require("latent_weight", config.latent_weight, 0, 1e6);
}

Joint::Joint(const JointConfig& config)
    : config_(config), predictor_(config.predictor), voice_(config.voice) {
  require_one_channel(config);
  parameters_.include("predictor.", predictor_.parameters());
  parameters_.include("voice.", voice_.parameters());
}

nn::Loss Joint::loss(std::span<const Value> inputs, const nn::StepInputs& step,
                     DType compute) const {
  const Value &audio_BN = inputs[0], &latents_BTD = inputs[1], &melody_BTM = inputs[2],
              &played_BTV = inputs[3], &excitation_BN = inputs[4];
  const Reference reference{inputs[5], inputs[6], predictor_.attends() ? inputs[7] : Value{}};
  const int64_t batch = audio_BN.size(0);
  const auto timbre = predictor_.timbre(reference, compute, step.blocks);
  const Value nothing = graph::constant(0, {compute, latents_BTD.shape().dims});
  const Value drafts = graph::constant(0, {DType::kI32, {batch}});
  const Value predicted =
      predictor_.predict(nothing, melody_BTM, timbre, drafts, step.blocks).latents_BTD;
  const Value rendered =
      voice_.render_in_training(convert(predicted, compute), played_BTV, excitation_BN, step);
  nn::Loss result = voice_.sound_loss(rendered, audio_BN, played_BTV);
  const Value l1 = graph::mean_all(graph::abs(predicted - latents_BTD));
  result.total = result.total + l1 * config_.latent_weight;
  result.metrics.emplace_back("l1", l1);
  return result;
}

nn::TrainSpec Joint::train_spec(const nn::StepShape& shape) const {
  const auto &predictor = config_.predictor.common, &voice = config_.voice.common;
  const int64_t batch = shape.batch, frames = shape.frames, samples = frames * kHopSamples,
                reference = shape.reference_frames;
  const auto f32 = [](graph::Dims dims) { return graph::Shape{DType::kF32, std::move(dims)}; };
  nn::TrainSpec spec{
      .name = "joint",
      .parameters = &parameters_,
      .batch = {{"audio", f32({batch, samples})},
                {"latents", f32({batch, frames, predictor.latent})},
                {"melody", f32({batch, frames, predictor.melody_features})},
                {"played", f32({batch, frames, voice.melody_features})},
                {"excitation", f32({batch, samples})},
                {"reference", f32({batch, reference, predictor.latent})},
                {"reference_frames", {DType::kI32, {batch}}}},
      .loss = [this, compute = shape.compute](
                  std::span<const Value> inputs,
                  const nn::StepInputs& step) { return loss(inputs, step, compute); },
      .units_per_batch = static_cast<double>(batch * frames) / 50,
      .unit = "audio s"};
  if (predictor_.attends()) {
    spec.batch.push_back({"reference_melody", f32({batch, reference, predictor.melody_features})});
  }
  return spec;
}

}  // namespace hum::models::humming
