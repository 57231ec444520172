#include "models/humming/voice.h"

#include "base/error.h"
#include "models/mel_scale.h"
#include "nn/onset_loss.h"
#include "nn/spectral_loss.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

constexpr int64_t kHopSamples = 441, kFineHopSamples = 147, kLowWindowSamples = 4 * kHopSamples;
constexpr int64_t kSampleRateHz = 22050;
constexpr int64_t kOnsetWindowSamples = 588, kOnsetBands = 40;
constexpr double kMaxLogGain = 5;
// White noise with a deviation of 1 is loud, so its gain starts 40 dB below the excitation's.
constexpr double kNoiseOffset = -4.6;
// An untrained free branch is noise. It starts 70 to 80 dB below full scale, so that it does not
// disturb a voice that was trained without it.
constexpr double kFreeOffset = -6;

// Adds to the log magnitudes of a head, not to its phases. Shapes: head_BTX, X = 2 bins -> f32.
Value louder(const Value& head_BTX, double offset) {
  const graph::Shape half{DType::kF32, {head_BTX.size(2) / 2}};
  const Value row =
      graph::concatenate({graph::constant(offset, half), graph::constant(0, half)}, 0);
  return convert(head_BTX, DType::kF32) + row;
}

void validate(const VoiceConfig& config) {
  const auto refuse = [](const char* field, double value, const std::string& hint) {
    fail(ExitCode::kConfig, fmt::format("voice: {} {} is out of range", field, value), hint);
  };
  const double tail_s = config.excitation_tail_s;
  if (!(tail_s > 0 && tail_s <= kMaxExcitationTail_s)) {
    refuse("excitation_tail_s", tail_s, "use 0.25, or up to 2 for instruments that ring");
  }
  if (!(config.floor_db > 0)) refuse("floor_db", config.floor_db, "use 60 or 80");
  if (config.onset_weight < 0) refuse("onset_weight", config.onset_weight, "use 0, or 0.3");
  const int64_t low_bins = config.free_low_bins, most = kLowWindowSamples / 2 + 1;
  if (low_bins < 0 || low_bins > most || (low_bins > 0 && !config.free_branch)) {
    refuse("free_low_bins", static_cast<double>(low_bins),
           fmt::format("use 0, or with free_branch: true up to {}", most));
  }
}

}  // namespace

Voice::Voice(const VoiceConfig& config) : config_(config) {
  validate(config);
  const nn::Scope root(parameters_);
  trunk_ = nn::UpsamplingTrunk(root, {.in = config.common.latent + config.common.melody_features,
                                      .width = config.width,
                                      .blocks = config.blocks,
                                      .fine_width = config.fine_width,
                                      .fine_blocks = config.fine_blocks,
                                      .ratio = kHopSamples / kFineHopSamples});
  const int64_t bins = config.fine_window_samples / 2 + 1;
  head_ = nn::Linear(root.child("head"), config.fine_width, 2 * bins);
  if (!config.free_branch) return;
  free_head_ = nn::Linear(root.child("free_head"), config.fine_width, 2 * bins);
  if (config.free_low_bins == 0) return;
  free_low_head_ = nn::Linear(root.child("free_low_head"), config.width, 2 * config.free_low_bins);
}

Value Voice::free_sound(const Value& coarse_BTW, const Value& fine) const {
  const Value sound = nn::polar_synthesis(louder(free_head_(fine), kFreeOffset),
                                          config_.fine_window_samples, kFineHopSamples);
  if (config_.free_low_bins == 0) return sound;
  return sound + nn::polar_synthesis(louder(free_low_head_(coarse_BTW), kFreeOffset),
                                     kLowWindowSamples, kHopSamples);
}

Value Voice::render(const Value& latents_BTD, const Value& melody_BTM, const Value& excitation_BN,
                    const Value& noise_BN, const nn::BlockOptions& blocks) const {
  const int64_t window = config_.fine_window_samples, bins = window / 2 + 1;
  const Value x = graph::concatenate({latents_BTD, convert(melody_BTM, latents_BTD.dtype())}, 2);
  const Value coarse_BTW = trunk_.coarse(x, blocks), fine = trunk_.fine(coarse_BTW, blocks);
  const Value log_gains = convert(head_(fine), DType::kF32);
  auto gain = [&](int64_t from, double offset) {
    const Value part = graph::slice_in_dim(log_gains, 2, from, from + bins) + offset;
    return graph::exponential(graph::minimum(part, kMaxLogGain));
  };
  const Value tone = gain(0, 0), hiss = gain(bins, kNoiseOffset);
  const auto e = nn::analysis(excitation_BN, window, kFineHopSamples);
  const auto n = nn::analysis(noise_BN, window, kFineHopSamples);
  const Value driven = nn::synthesis({tone * e.real + hiss * n.real, tone * e.imag + hiss * n.imag},
                                     window, kFineHopSamples);
  return config_.free_branch ? driven + free_sound(coarse_BTW, fine) : driven;
}

Value Voice::onset_loss(const Value& rendered_BN, const Value& audio_BN,
                        const Value& melody_BTM) const {
  static const nn::MelScale kScale = mel_scale(kOnsetWindowSamples, kFineHopSamples, kOnsetBands);
  const Value onset_BT =
      graph::reshape(graph::slice_in_dim(melody_BTM, 2, kMelodyOnset, kMelodyOnset + 1),
                     {melody_BTM.size(0), melody_BTM.size(1)});
  return nn::onset_distance(rendered_BN, audio_BN, onset_BT, kScale, config_.floor_db);
}

Value Voice::render_in_training(const Value& latents_BTD, const Value& melody_BTM,
                                const Value& excitation_BN, const nn::StepInputs& step) const {
  const Value draw =
      graph::uniform({DType::kF32, {excitation_BN.size(0), 1}}, graph::fold_in(step.key, 1));
  const double dropout = step.is_training ? config_.excitation_dropout : 0;
  const Value noise_BN = graph::normal(excitation_BN.shape(), graph::fold_in(step.key, 2));
  return render(latents_BTD, melody_BTM, excitation_BN * convert(draw >= dropout, DType::kF32),
                noise_BN, step.blocks);
}

nn::Loss Voice::sound_loss(const Value& rendered_BN, const Value& audio_BN,
                           const Value& melody_BTM) const {
  nn::SpectralLossConfig loss_config;
  loss_config.mel_scales = training_mel_scales();
  loss_config.balance_weight = config_.balance_weight;
  loss_config.floor_db = config_.floor_db;
  const auto spectral = nn::spectral_loss(rendered_BN, audio_BN, loss_config);
  nn::Loss result{.total = spectral.total,
                  .metrics = {{"mel", spectral.mel}, {"linear", spectral.linear}}};
  if (spectral.balance) result.metrics.emplace_back("balance", spectral.balance);
  if (config_.onset_weight > 0) {
    const Value onset = onset_loss(rendered_BN, audio_BN, melody_BTM);
    result.total = result.total + onset * config_.onset_weight;
    result.metrics.emplace_back("onset", onset);
  }
  return result;
}

nn::TrainSpec Voice::train_spec(const nn::StepShape& shape) const {
  auto loss = [this, compute = shape.compute](std::span<const Value> inputs,
                                              const nn::StepInputs& step) {
    const Value &audio_BN = inputs[0], &melody_BTM = inputs[2];
    const Value rendered =
        render_in_training(convert(inputs[1], compute), melody_BTM, inputs[3], step);
    return sound_loss(rendered, audio_BN, melody_BTM);
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
