// Splits stereo sound into mono signals for a one-channel codec: left and right, or mid and side.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"

namespace hum::audio {

enum class Channels {
  kMono,
  kLeftRight,
  kMidSide,  // mid = (left + right) / 2, side = (left - right) / 2
};
inline EnumNames<Channels> enum_names(Channels) {
  static constexpr std::pair<Channels, std::string_view> kNames[] = {
      {Channels::kMono, "mono"},
      {Channels::kLeftRight, "left_right"},
      {Channels::kMidSide, "mid_side"}};
  return kNames;
}
constexpr int channel_count(Channels channels) { return channels == Channels::kMono ? 1 : 2; }

// The signals to code, one array per channel. Shapes: C = channel_count, interleaved [n, C] -> C of
// [n].
std::vector<std::vector<float>> coded_channels(std::span<const float> interleaved,
                                               Channels channels);
// The inverse. Shapes: C of [n] -> interleaved [n, C].
std::vector<float> heard_channels(std::span<const std::vector<float>> coded, Channels channels);

}  // namespace hum::audio
