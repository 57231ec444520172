// Second-order equaliser bands (R. Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter
// coefficients"): what a mixing desk has.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "base/fields.h"

namespace hum::audio {

enum class EqualiserShape { kLowShelf, kPeak, kHighShelf };
inline EnumNames<EqualiserShape> enum_names(EqualiserShape) {
  static constexpr std::pair<EqualiserShape, std::string_view> kNames[] = {
      {EqualiserShape::kLowShelf, "low_shelf"},
      {EqualiserShape::kPeak, "peak"},
      {EqualiserShape::kHighShelf, "high_shelf"}};
  return kNames;
}

// A shelf reaches half of `gain_db` at its frequency, a peak all of it.
struct EqualiserBand {
  EqualiserShape shape = EqualiserShape::kPeak;
  double frequency_hz = 1000;  // below half the sample rate
  double gain_db = 0;
  double q =
      0.7071;  // of a peak: centre frequency / bandwidth; of a shelf: 0.7071 has no overshoot
  friend bool operator==(const EqualiserBand&, const EqualiserBand&) = default;
};

// All bands, one after another, in place. Channels are interleaved.
void equalise(std::span<float> samples, int channels, int rate_hz,
              std::span<const EqualiserBand> bands);

}  // namespace hum::audio
