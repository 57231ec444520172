#include "models/preset_classifier/config.h"

namespace hum::models::preset_classifier {

void validate(const PresetClassifierConfig& config, const Bounds& bounds) {
  constexpr int64_t kMostWidth = 8192;
  bounds.require("presets", static_cast<int64_t>(config.presets.size()), config.presets.size() != 1,
                 "name two presets or more, or none for those of the data");
  bounds.require("window_samples", config.window_samples, 2, 22050);
  bounds.require("hop_samples", config.hop_samples, 1, config.window_samples);
  bounds.require("bands", config.bands, 1, config.window_samples / 2 + 1);
  bounds.require("width", config.width, 1, kMostWidth);
  bounds.require("blocks", config.blocks, 1, 256);
  bounds.require("embedding", config.embedding, 1, kMostWidth);
}

}  // namespace hum::models::preset_classifier
