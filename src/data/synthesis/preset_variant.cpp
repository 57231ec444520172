#include "data/synthesis/preset_variant.h"

#include <cmath>

#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

using audio::EqualiserBand, audio::EqualiserShape;

constexpr double kColour_db = 12;

std::vector<float> render_preset(FluidRenderer& renderer, const Preset& preset,
                                 std::span<const audio::Note> notes, double seconds, int channels) {
  return channels == 1 ? renderer.render(notes, preset.program, seconds)
                       : renderer.render_stereo(notes, preset.program, seconds).samples;
}

}  // namespace

std::vector<EqualiserBand> draw_colour(Rng& rng) {
  const auto hz = [&](double low, double high) {
    return low * std::pow(high / low, rng.uniform());
  };
  const auto gain = [&] { return rng.uniform(-kColour_db, kColour_db); };
  std::vector<EqualiserBand> bands;
  if (rng.chance(0.5)) bands.push_back({EqualiserShape::kLowShelf, hz(150, 600), gain() * 0.7});
  bands.push_back({EqualiserShape::kHighShelf, hz(1200, 6000), gain()});
  for (int peaks = static_cast<int>(rng.integer(0, 2)); peaks > 0; --peaks) {
    const double q = rng.uniform(0.5, 3);
    bands.push_back({EqualiserShape::kPeak, hz(250, 6000), gain(), q});
  }
  return bands;
}

std::vector<float> render_variant(FluidRenderer& renderer, const PresetVariant& variant,
                                  std::span<const audio::Note> notes, double seconds,
                                  audio::Channels channels) {
  const int count = audio::channel_count(channels);
  auto samples = render_preset(renderer, *variant.preset, notes, seconds, count);
  if (variant.unison != nullptr) {
    auto other = render_preset(renderer, *variant.unison, notes, seconds, count);
    normalise_level(samples, count);
    normalise_level(other, count);
    const auto share = static_cast<float>(std::pow(10, variant.unison_db / 20));
    for (size_t i = 0; i < samples.size(); ++i) samples[i] += share * other[i];
  }
  audio::equalise(samples, count, kSampleRate, variant.colour);
  return samples;
}

}  // namespace hum::data
