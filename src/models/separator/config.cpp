#include "models/separator/config.h"

#include <algorithm>
#include <cmath>

namespace hum::models::separator {

int64_t SeparatorConfig::bins() const {
  const double bins = highest_hz * static_cast<double>(window_samples) / kSampleRateHz;
  return std::min(static_cast<int64_t>(bins), all_bins());
}

void validate(const SeparatorConfig& config, const Bounds& bounds) {
  constexpr int64_t kMostWindow_samples = 65536;
  bounds.require("window_samples", config.window_samples, 64, kMostWindow_samples);
  bounds.require("window_samples", config.window_samples, config.window_samples % 16 == 0,
                 "use a multiple of 16");
  bounds.require("hop_samples", config.hop_samples, 4 * config.hop_samples == config.window_samples,
                 fmt::format("use a quarter of the window, {}", config.window_samples / 4));
  bounds.require("highest_hz", config.highest_hz, 100.0, kSampleRateHz / 2.0);
  bounds.require("bands", config.bands, 1, config.bins());
  bounds.require("frames", config.frames, 8, 65536);
  bounds.require("width", config.width, 1, 8192);
  bounds.require("blocks", config.blocks, 1, 256);
  bounds.require("heads", config.heads, 1, 1024);
  bounds.require("mask_width", config.mask_width, 1, 8192);
  bounds.require("kernel", config.kernel, 1, 1001);
  if (config.architecture == Architecture::kBandSplit) {
    bounds.require("width", config.width, config.width % (2 * config.heads) == 0,
                   fmt::format("use a multiple of twice the heads, {}", 2 * config.heads));
  }
}

std::vector<int64_t> band_edges(const SeparatorConfig& config) {
  constexpr double kGrowth = 3.25;  // of 1,486 bins in 32 bands, six have one bin, the last 146
  const int64_t bins = config.bins(), bands = config.bands;
  std::vector<int64_t> edges = {0};
  for (int64_t i = 1; i <= bands; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bands);
    const auto edge =
        static_cast<int64_t>(std::lround(static_cast<double>(bins) * std::pow(share, kGrowth)));
    edges.push_back(std::clamp(edge, edges.back() + 1, bins - (bands - i)));
  }
  return edges;
}

}  // namespace hum::models::separator
