#include "models/codec/codec.h"

#include "base/error.h"
#include "models/mel_scale.h"

namespace hum::models::codec {

using graph::convert;
using graph::DType;

namespace {

constexpr double kFeatureFloor = 1e-4;

}  // namespace

Codec::Codec(const CodecConfig& config) : config_(config) {
  HUM_REQUIRE(config.fine_window_samples % kFineHopSamples == 0 &&
                  config.fine_window_samples >= 4 * kFineHopSamples,
              "codec: fine_window_samples must be a multiple of {} of at least {}", kFineHopSamples,
              4 * kFineHopSamples);
  HUM_REQUIRE(config.low_bins >= 0 && config.low_bins <= kLowWindowSamples / 2 + 1,
              "codec: {} low_bins, must be 0 to {}", config.low_bins, kLowWindowSamples / 2 + 1);
  const nn::Scope root(parameters_);
  const nn::Scope encoder = root.child("encoder");
  const int64_t bins = config.encoder_window_samples / 2 + 1;
  in_ = nn::Linear(encoder.child("in"), 3 * bins, config.encoder_width);
  encoder_ =
      nn::convnext_stack(encoder, config.encoder_blocks,
                         {.width = config.encoder_width, .hidden = 3 * config.encoder_width});
  encoder_norm_ = nn::Norm(encoder.child("norm"), nn::NormKind::kLayer, config.encoder_width);
  to_latent_ = nn::Linear(encoder.child("to_latent"), config.encoder_width, config.latent);
  quantizer_ = ResidualQuantizer(root.child("quantizer"), config.quantizer, config.latent);
  const nn::Scope decoder = root.child("decoder");
  trunk_ = nn::UpsamplingTrunk(decoder, {.in = config.latent,
                                         .width = config.decoder_width,
                                         .blocks = config.decoder_blocks,
                                         .fine_width = config.fine_width,
                                         .fine_blocks = config.fine_blocks,
                                         .ratio = kFineRatio});
  head_ = nn::Linear(decoder.child("head"), config.fine_width,
                     2 * (config.fine_window_samples / 2 + 1));
  if (config.low_bins > 0) {
    low_head_ = nn::Linear(decoder.child("low_head"), config.decoder_width, 2 * config.low_bins);
  }
}

// Log magnitude, and the spectrum with compressed magnitude: [B, T, 3 (window/2+1)].
Value Codec::features(const Value& audio_BN) const {
  const int64_t window = config_.encoder_window_samples;
  const auto [real, imag] = nn::analysis(audio_BN, window, kHopSamples);
  const Value size = graph::sqrt(real * real + imag * imag + kFeatureFloor * kFeatureFloor);
  const Value level = graph::log(size + 1e-3) * 0.3;
  // size^-0.7, spelled out because XLA's power calls the math library for each element.
  const Value compress = graph::exponential(graph::log(size) * -0.7);
  return graph::concatenate({level, real * compress, imag * compress}, 2);
}

Value Codec::latents(const Value& audio_BN) const {
  HUM_REQUIRE(audio_BN.rank() == 2 && audio_BN.size(1) % kHopSamples == 0,
              "codec: {} is not [batch, a multiple of {} samples]", audio_BN.shape(), kHopSamples);
  Value x = in_(features(audio_BN));
  for (const auto& block : encoder_) x = block(x);
  return to_latent_(encoder_norm_(x));
}

Value Codec::decode(const Value& latents_BTD, const nn::BlockOptions& blocks) const {
  const Value coarse = trunk_.coarse(latents_BTD, blocks);
  const Value sound = nn::polar_synthesis(head_(trunk_.fine(coarse, blocks)),
                                          config_.fine_window_samples, kFineHopSamples);
  if (config_.low_bins == 0) return sound;
  return sound + nn::polar_synthesis(low_head_(coarse), kLowWindowSamples, kHopSamples);
}

nn::TrainSpec Codec::train_spec(const nn::StepShape& shape) const {
  nn::SpectralLossConfig loss_config;
  loss_config.mel_scales = training_mel_scales();
  loss_config.phase_weight = config_.phase_weight;
  loss_config.balance_weight = config_.balance_weight;
  loss_config.partials_weight = config_.partials_weight;
  auto loss = [this, loss_config, compute = shape.compute](std::span<const Value> inputs,
                                                           const nn::StepInputs& step) {
    const Value& audio_BN = inputs[0];
    const Value x =
        nn::run_blocks(step.blocks, encoder_, in_(convert(features(audio_BN), compute)));
    const Value latents = convert(to_latent_(encoder_norm_(x)), DType::kF32);
    auto quantised = quantizer_.train(latents, step);
    const Value decoded = decode(convert(quantised.latents_BTD, compute), step.blocks);
    const auto spectral = nn::spectral_loss(decoded, audio_BN, loss_config);
    nn::Loss result;
    result.total = spectral.total + quantised.loss;
    result.metrics = {{"mel", spectral.mel}, {"linear", spectral.linear}};
    if (spectral.phase) result.metrics.emplace_back("phase", spectral.phase);
    if (spectral.balance) result.metrics.emplace_back("balance", spectral.balance);
    result.metrics.emplace_back("commit", quantised.loss);
    if (spectral.partials) result.metrics.emplace_back("partials", spectral.partials);
    if (quantised.usage) result.metrics.emplace_back("usage", quantised.usage);
    result.buffer_updates = std::move(quantised.buffer_updates);
    return result;
  };
  return {.name = "codec",
          .parameters = &parameters_,
          .batch = {{"audio", {DType::kF32, {shape.batch, shape.samples}}}},
          .loss = std::move(loss),
          .units_per_batch = static_cast<double>(shape.batch * shape.samples) / kSampleRateHz,
          .unit = "audio s"};
}

}  // namespace hum::models::codec
