#include "data/synthesis/preset_variant.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

std::vector<audio::Note> tune() {
  return {{0.1, 0.9, 60, 0.6, {}}, {1.0, 1.4, 64, 0.6, {}}, {1.5, 2.4, 67, 0.6, {}}};
}

TEST(PresetVariant, ThatChangesNothingIsThePreset) {
  FluidRenderer renderer;
  const Preset& violin = find_preset("violin");
  EXPECT_EQ(render_variant(renderer, {.preset = &violin}, tune(), 3),
            renderer.render(tune(), violin.program, 3));
}

TEST(PresetVariant, InUnisonIsTheSumOfBothAtTheirLevels) {
  FluidRenderer renderer;
  const Preset &flute = find_preset("flute"), &harp = find_preset("harp");
  const auto both =
      render_variant(renderer, {.preset = &flute, .unison = &harp, .unison_db = -6}, tune(), 3);
  const auto first = levelled(renderer.render(tune(), flute.program, 3));
  const auto second = levelled(renderer.render(tune(), harp.program, 3));
  const float share = std::pow(10.0F, -0.3F);
  for (size_t i = 0; i < both.size(); ++i) {
    ASSERT_NEAR(both[i], first[i] + share * second[i], 1e-6);
  }
}

TEST(PresetVariant, InStereoIsWhatItsMeanIsInMono) {
  FluidRenderer renderer;
  const Preset& piano = find_preset("piano");
  const PresetVariant variant = {.preset = &piano,
                                 .colour = {{audio::EqualiserShape::kPeak, 900, 8, 1}}};
  const auto mono = render_variant(renderer, variant, tune(), 3);
  const auto stereo = render_variant(renderer, variant, tune(), 3, audio::Channels::kMidSide);
  ASSERT_EQ(stereo.size(), 2 * mono.size());
  for (size_t i = 0; i < mono.size(); ++i) {
    ASSERT_NEAR((stereo[2 * i] + stereo[2 * i + 1]) / 2, mono[i], 1e-5);
  }
}

TEST(PresetVariant, ColoursStayWithinTheirBounds) {
  Rng rng(1, "colours", 0);
  for (int i = 0; i < 500; ++i) {
    const auto bands = draw_colour(rng);
    EXPECT_GE(bands.size(), 1U);
    EXPECT_LE(bands.size(), 4U);
    for (const auto& band : bands) {
      EXPECT_GE(band.frequency_hz, 150);
      EXPECT_LE(band.frequency_hz, 6000);
      EXPECT_LE(std::abs(band.gain_db), 12);
    }
  }
}

}  // namespace
}  // namespace hum::data
