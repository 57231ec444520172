#include "models/codec/codec.h"

#include "base/error.h"
#include "models/mel_scale.h"

namespace hum::models::codec {

using graph::convert;
using graph::DType;

namespace {

constexpr double kFeatureFloor = 1e-4;
constexpr int64_t kLeastShift_samples = 22, kMostShift_samples = 110;  // 1 and 5 ms
constexpr int64_t kShiftDraw = 1002;  // derives its key from the step's

void require_split_fits(const CodecConfig& config) {
  if (config.phase_latent < 0 || config.phase_latent >= config.latent) {
    fail(ExitCode::kConfig,
         fmt::format("codec: phase_latent {} of latent {}", config.phase_latent, config.latent),
         fmt::format("use 0 (not split) to {}", config.latent - 1));
  }
  if (!config.is_split() && config.phase_books != 0) {
    fail(ExitCode::kConfig,
         fmt::format("codec: {} phase_books, but no phase part", config.phase_books),
         "set phase_latent, or omit phase_books");
  }
  if (!config.is_split()) return;
  if (config.phase_books < 1 || config.sound_books() < 1) {
    fail(ExitCode::kConfig,
         fmt::format("codec: {} phase_books of {} books", config.phase_books,
                     config.quantizer.books),
         "each part of a split codec needs a book");
  }
  if (config.phase_width < 1 || config.phase_blocks < 1) {
    fail(ExitCode::kConfig,
         fmt::format("codec: phase_width {}, phase_blocks {}", config.phase_width,
                     config.phase_blocks),
         "both must be 1 or more");
  }
}

void require_loss(const CodecConfig& config) {
  if (!(config.floor_db > 0)) {
    fail(ExitCode::kConfig, fmt::format("codec: floor_db {}", config.floor_db),
         "it must be above 0, e.g. 60");
  }
  if (!(config.consistency_weight >= 0)) {
    fail(ExitCode::kConfig, fmt::format("codec: consistency_weight {}", config.consistency_weight),
         "it must not be negative");
  }
}

}  // namespace

Encoder::Encoder(const nn::Scope& scope, const Options& options)
    : in_(scope.child("in"), options.features, options.width),
      blocks_(nn::convnext_stack(scope, options.blocks,
                                 {.width = options.width, .hidden = 3 * options.width})),
      norm_(scope.child("norm"), nn::NormKind::kLayer, options.width),
      to_latent_(scope.child("to_latent"), options.width, options.latent) {}

Value Encoder::operator()(const Value& features_BTF, const nn::BlockOptions& blocks) const {
  return to_latent_(norm_(nn::run_blocks(blocks, blocks_, in_(features_BTF))));
}

Codec::Codec(const CodecConfig& config) : config_(config) {
  require_split_fits(config);
  require_loss(config);
  HUM_REQUIRE(config.fine_window_samples % kFineHopSamples == 0 &&
                  config.fine_window_samples >= 4 * kFineHopSamples,
              "codec: fine_window_samples must be a multiple of {} of at least {}", kFineHopSamples,
              4 * kFineHopSamples);
  HUM_REQUIRE(config.low_bins >= 0 && config.low_bins <= kLowWindowSamples / 2 + 1,
              "codec: {} low_bins, must be 0 to {}", config.low_bins, kLowWindowSamples / 2 + 1);
  const nn::Scope root(parameters_);
  const int64_t bins = config.encoder_window_samples / 2 + 1;
  encoder_ = Encoder(root.child("encoder"), {.features = config.is_split() ? bins : 3 * bins,
                                             .width = config.encoder_width,
                                             .blocks = config.encoder_blocks,
                                             .latent = config.sound_latent()});
  if (config.is_split()) {
    phase_encoder_ = Encoder(root.child("phase_encoder"), {.features = 2 * bins,
                                                           .width = config.phase_width,
                                                           .blocks = config.phase_blocks,
                                                           .latent = config.phase_latent});
  }
  quantizer_ = CodecQuantizer(root.child("quantizer"), config);
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

Codec::Features Codec::features(const Value& audio_BN) const {
  HUM_REQUIRE(audio_BN.rank() == 2 && audio_BN.size(1) % kHopSamples == 0,
              "codec: {} is not [batch, a multiple of {} samples]", audio_BN.shape(), kHopSamples);
  const auto [real, imag] = nn::analysis(audio_BN, config_.encoder_window_samples, kHopSamples);
  const Value size = graph::sqrt(real * real + imag * imag + kFeatureFloor * kFeatureFloor);
  const Value level = graph::log(size + 1e-3) * 0.3;
  // size^-0.7, spelled out because XLA's power calls the math library for each element.
  const Value compress = graph::exponential(graph::log(size) * -0.7);
  return {level, real * compress, imag * compress};
}

Value Codec::sound_part(const Features& seen, const Tracing& tracing) const {
  const Value x_BTF =
      config_.is_split() ? seen.level : graph::concatenate({seen.level, seen.real, seen.imag}, 2);
  return convert(encoder_(convert(x_BTF, tracing.compute), tracing.blocks), DType::kF32);
}

Value Codec::phase_part(const Features& seen, const Tracing& tracing) const {
  const Value x_BTF = convert(graph::concatenate({seen.real, seen.imag}, 2), tracing.compute);
  return convert(phase_encoder_(x_BTF, tracing.blocks), DType::kF32);
}

Value Codec::both_parts(const Value& sound_BTS, const Features& seen,
                        const Tracing& tracing) const {
  if (!config_.is_split()) return sound_BTS;
  return graph::concatenate({sound_BTS, phase_part(seen, tracing)}, 2);
}

Value Codec::latents(const Value& audio_BN) const {
  const Features seen = features(audio_BN);
  return both_parts(sound_part(seen, {}), seen, {});
}

// One shift for all items of a step. Silence enters at the end.
Value Codec::sound_movement(const Value& audio_BN, const Value& sound_BTS, const Value& key,
                            const Tracing& tracing) const {
  const Value draw = graph::uniform({DType::kF32, {}}, graph::fold_in(key, kShiftDraw));
  const Value shift = convert(draw * (kMostShift_samples - kLeastShift_samples + 1), DType::kI32) +
                      kLeastShift_samples;
  const Value padded = graph::pad_in_dim(audio_BN, 0, 1, 0, kMostShift_samples);
  const Value moved_BN = graph::dynamic_slice_in_dim(padded, shift, audio_BN.size(1), 1);
  const Value moved_BTS = sound_part(features(moved_BN), tracing);
  const auto mean_square = [](const Value& x) { return graph::mean_all(x * x); };
  const Value deviation = sound_BTS - graph::mean(sound_BTS, {0, 1}, /*keepdims=*/true);
  return mean_square(moved_BTS - sound_BTS) / (mean_square(deviation) + 1e-6);
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
  loss_config.floor_db = config_.floor_db;
  auto loss = [this, loss_config, compute = shape.compute](std::span<const Value> inputs,
                                                           const nn::StepInputs& step) {
    const Value& audio_BN = inputs[0];
    const Tracing tracing = {compute, step.blocks};
    const Features seen = features(audio_BN);
    const Value sound_BTS = sound_part(seen, tracing);
    auto quantised = quantizer_.train(both_parts(sound_BTS, seen, tracing), step);
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
    if (config_.consistency_weight > 0) {
      const Value movement = sound_movement(audio_BN, sound_BTS, step.key, tracing);
      result.total = result.total + movement * config_.consistency_weight;
      result.metrics.emplace_back("movement", movement);
    }
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
