#include "models/humming/config.h"

#include <algorithm>

namespace hum::models::humming {
namespace {

constexpr int64_t kMostWidth = 8192, kMostBlocks = 256;
constexpr double kMostWeight = 1e6;
constexpr int64_t kFineWindowSamples = 588;  // four hops, which nn::synthesis takes
constexpr int64_t kMostPrefixGroup = 250;    // frames of a reference

void validate_common(const CommonConfig& config, const Bounds& bounds) {
  bounds.require("latent", config.latent, 1, kMostWidth);
  bounds.require("books", config.books, 1, 128);
  bounds.require("entries", config.entries, 1, 65536);
  bounds.require("melody_features", config.melody_features, 1, kAllMelodyFeatures);
}

}  // namespace

void validate(const VoiceConfig& config, const Bounds& bounds) {
  validate_common(config.common, bounds.of("common"));
  bounds.require("width", config.width, 1, kMostWidth);
  bounds.require("blocks", config.blocks, 1, kMostBlocks);
  bounds.require("fine_width", config.fine_width, 1, kMostWidth);
  bounds.require("fine_blocks", config.fine_blocks, 1, kMostBlocks);
  bounds.require("fine_window_samples", config.fine_window_samples, kFineWindowSamples,
                 kFineWindowSamples);
  bounds.require("excitation_dropout", config.excitation_dropout, 0, 1);
  bounds.require("balance_weight", config.balance_weight, 0, kMostWeight);
}

void validate(const UpsamplerConfig& config, const Bounds& bounds) {
  validate_common(config.common, bounds.of("common"));
  bounds.require("width", config.width, 1, kMostWidth);
  bounds.require("blocks", config.blocks, 1, kMostBlocks);
  // Something is left to regress.
  bounds.require("classified_books", config.classified_books, 1,
                 std::max<int64_t>(config.common.books - 1, 1));
}

void validate(const CoarseConfig& config, const Bounds& bounds) {
  validate_common(config.common, bounds.of("common"));
  nn::validate(config.transformer, bounds.of("transformer"));
  bounds.require("coarse_books", config.coarse_books, 1, config.common.books);
  bounds.require("vocabulary", config.vocabulary, config.common.entries + 1, 1 << 20);
  bounds.require("prefix_group", config.prefix_group, 1, kMostPrefixGroup);
  bounds.require("melody_blocks", config.melody_blocks, 1, kMostBlocks);
  bounds.require("melody_width", config.melody_width, 1, kMostWidth);
  bounds.require("reconstruction_weight", config.reconstruction_weight, 0, kMostWeight);
  bounds.require("condition_dropout", config.condition_dropout, 0, 1);
}

}  // namespace hum::models::humming
