#include "models/ear/config.h"

#include "models/ear/grid.h"

namespace hum::models::ear {

void validate(const EarConfig& config, const Bounds& bounds) {
  constexpr int64_t kMostWindow_samples = 22050, kMostBlocks = 256;
  bounds.require("onset_window_samples", config.onset_window_samples, kHop, kMostWindow_samples);
  bounds.require("pitch_window_samples", config.pitch_window_samples, kHop, kMostWindow_samples);
  bounds.require("channels", config.channels, 1, 1024);
  bounds.require("pitch_blocks", config.pitch_blocks, 1, kMostBlocks);
  bounds.require("width", config.width, 1, 8192);
  bounds.require("blocks", config.blocks, 1, kMostBlocks);
  bounds.require("kernel", config.kernel, 1, 1001);
}

}  // namespace hum::models::ear
