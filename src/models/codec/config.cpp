#include "models/codec/config.h"

namespace hum::models::codec {
namespace {

constexpr int64_t kMostWidth = 8192, kMostBlocks = 256;
constexpr double kMostWeight = 1e6;

void validate_quantizer(const QuantizerConfig& config, const Bounds& bounds) {
  bounds.require("books", config.books, 1, 64);
  bounds.require("entries", config.entries, 1, 65536);
  bounds.require("cosine_dim", config.cosine_dim, 1, 1024);
  bounds.require("warm_up_steps", config.warm_up_steps, 0, 1'000'000'000);
  bounds.require("decay", config.decay, 0, 1);
}

}  // namespace

void validate(const CodecConfig& config, const Bounds& bounds) {
  bounds.require("latent", config.latent, 1, kMostWidth);
  bounds.require("phase_width", config.phase_width, 0, kMostWidth);
  bounds.require("phase_blocks", config.phase_blocks, 0, kMostBlocks);
  bounds.require("encoder_window_samples", config.encoder_window_samples, kHopSamples,
                 kSampleRateHz);
  bounds.require("encoder_width", config.encoder_width, 1, kMostWidth);
  bounds.require("encoder_blocks", config.encoder_blocks, 1, kMostBlocks);
  bounds.require("decoder_width", config.decoder_width, 1, kMostWidth);
  bounds.require("decoder_blocks", config.decoder_blocks, 1, kMostBlocks);
  bounds.require("fine_width", config.fine_width, 1, kMostWidth);
  bounds.require("fine_blocks", config.fine_blocks, 1, kMostBlocks);
  // nn::synthesis takes windows of four hops.
  bounds.require("fine_window_samples", config.fine_window_samples, 4 * kFineHopSamples,
                 4 * kFineHopSamples);
  bounds.require("low_bins", config.low_bins, 0, kLowWindowSamples / 2 + 1);
  bounds.require("phase_weight", config.phase_weight, 0, kMostWeight);
  bounds.require("partials_weight", config.partials_weight, 0, kMostWeight);
  bounds.require("balance_weight", config.balance_weight, 0, kMostWeight);
  validate_quantizer(config.quantizer, bounds.of("quantizer"));
}

}  // namespace hum::models::codec
