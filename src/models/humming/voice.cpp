#include "models/humming/voice.h"

#include <cmath>

#include "models/mel_scale.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

constexpr int64_t kHopSamples = 441, kFineHopSamples = 147;
constexpr int64_t kSampleRateHz = 22050;
constexpr double kMaxLogGain = 5;
// White noise with a deviation of 1 is loud, so its gain starts 40 dB below the excitation's.
constexpr double kNoiseOffset = -4.6;

}  // namespace

Voice::Voice(const VoiceConfig& config) : config_(config) {
  const nn::Scope root(parameters_);
  trunk_ = nn::UpsamplingTrunk(root, {.in = config.common.latent + config.common.melody_features,
                                      .width = config.width,
                                      .blocks = config.blocks,
                                      .fine_width = config.fine_width,
                                      .fine_blocks = config.fine_blocks,
                                      .ratio = kHopSamples / kFineHopSamples});
  head_ =
      nn::Linear(root.child("head"), config.fine_width, 2 * (config.fine_window_samples / 2 + 1));
}

Value Voice::render(const Value& latents_BTD, const Value& melody_BTM, const Value& excitation_BN,
                    const Value& noise_BN, const nn::BlockOptions& blocks) const {
  const int64_t window = config_.fine_window_samples, bins = window / 2 + 1;
  const Value x = graph::concatenate({latents_BTD, convert(melody_BTM, latents_BTD.dtype())}, 2);
  const Value log_gains = convert(head_(trunk_(x, blocks)), DType::kF32);
  auto gain = [&](int64_t from, double offset) {
    const Value part = graph::slice_in_dim(log_gains, 2, from, from + bins) + offset;
    return graph::exponential(graph::minimum(part, kMaxLogGain));
  };
  const Value tone = gain(0, 0), hiss = gain(bins, kNoiseOffset);
  const auto e = nn::analysis(excitation_BN, window, kFineHopSamples);
  const auto n = nn::analysis(noise_BN, window, kFineHopSamples);
  return nn::synthesis({tone * e.real + hiss * n.real, tone * e.imag + hiss * n.imag}, window,
                       kFineHopSamples);
}

nn::TrainSpec Voice::train_spec(const nn::StepShape& shape) const {
  nn::SpectralLossConfig loss_config;
  loss_config.mel_scales = training_mel_scales();
  loss_config.balance_weight = config_.balance_weight;
  auto loss = [this, loss_config, compute = shape.compute](std::span<const Value> inputs,
                                                           const nn::StepInputs& step) {
    const Value &audio_BN = inputs[0], &latents_BTD = inputs[1], &melody_BTM = inputs[2];
    const Value draw =
        graph::uniform({DType::kF32, {audio_BN.size(0), 1}}, graph::fold_in(step.key, 1));
    const double dropout = step.is_training ? config_.excitation_dropout : 0;
    const Value excitation_BN = inputs[3] * convert(draw >= dropout, DType::kF32);
    const Value noise_BN = graph::normal(audio_BN.shape(), graph::fold_in(step.key, 2));
    const Value rendered =
        render(convert(latents_BTD, compute), melody_BTM, excitation_BN, noise_BN, step.blocks);
    const auto spectral = nn::spectral_loss(rendered, audio_BN, loss_config);
    nn::Loss result{.total = spectral.total,
                    .metrics = {{"mel", spectral.mel}, {"linear", spectral.linear}}};
    if (spectral.balance) result.metrics.emplace_back("balance", spectral.balance);
    return result;
  };
  const int64_t batch = shape.batch, samples = shape.samples, frames = samples / kHopSamples;
  return {.name = "voice",
          .parameters = &parameters_,
          .batch = {{"audio", {DType::kF32, {batch, samples}}},
                    {"latents", {DType::kF32, {batch, frames, config_.common.latent}}},
                    {"melody", {DType::kF32, {batch, frames, config_.common.melody_features}}},
                    {"excitation", {DType::kF32, {batch, samples}}}},
          .loss = std::move(loss),
          .units_per_batch = static_cast<double>(batch * samples) / kSampleRateHz,
          .unit = "audio s"};
}

}  // namespace hum::models::humming
