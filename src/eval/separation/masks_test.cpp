// Floors and ceilings of separation against tools/golden/separation.py, and their limits.
#include "eval/separation/masks.h"

#include <gmock/gmock.h>

#include <cmath>

#include "audio/test_signal.h"
#include "base/error.h"
#include "eval/metrics/stem_figures.h"
#include "eval/metrics/testing_impl.h"
#include "eval/metrics/testing_separation.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;

// The spectra are of single precision; a binary mask turns a difference into a jump.
constexpr double kError_db = 1e-3;

Json golden() { return testing::golden("separation.json", "masked"); }

void expect_figures(const std::vector<AudioBuffer>& stems,
                    const std::vector<AudioBuffer>& estimates, const Json& expected) {
  ASSERT_EQ(estimates.size(), stems.size());
  for (size_t i = 0; i < stems.size(); ++i) {
    EXPECT_NEAR(sdr_db(stems[i].samples, estimates[i].samples), expected[i], kError_db) << i;
  }
}

TEST(Masks, AreThoseOfTheirDefinitions) {
  for (const Json& row : golden()) {
    SCOPED_TRACE(row["name"]);
    const auto stems = testing::separation_references(row);
    const AudioBuffer mixture = sum_of(stems);
    std::vector<AudioBuffer> scaled;
    for (const AudioBuffer& stem : stems) scaled.push_back(best_scaled(mixture, stem));
    expect_figures(stems, std::vector(stems.size(), mixture), row["mixture"]);
    expect_figures(stems, scaled, row["best gain"]);
    expect_figures(stems, ideal_binary_masks(mixture, stems), row["ibm"]);
    expect_figures(stems, ideal_ratio_masks(mixture, stems), row["irm"]);
    expect_figures(stems, ideal_ratio_masks(mixture, stems, MaskChannels::kOne),
                   row["irm, one mask"]);
    expect_figures(stems, ideal_wiener_filters(mixture, stems), row["mwf"]);
    const SteadyAndSudden parts = steady_and_sudden(mixture);
    expect_figures(stems, {parts.sudden, parts.steady, parts.steady}, row["hpss"]);
  }
}

// A click and a tone.
TEST(Masks, MediansSplitWhatIsSteadyFromWhatIsSudden) {
  const auto tone = audio::tone(1000, 2, 22050);
  AudioBuffer steady = audio::from_mono(tone, 22050), sudden = steady;
  for (size_t i = 0; i < sudden.samples.size(); ++i) {
    sudden.samples[i] = i % 11025 == 5000 ? 1.0F : 0.0F;
  }
  const std::vector<AudioBuffer> stems{steady, sudden};
  const AudioBuffer mixture = sum_of(stems);
  const SteadyAndSudden parts = steady_and_sudden(mixture);
  EXPECT_GT(sdr_db(steady.samples, parts.steady.samples), 10);
  EXPECT_GT(sdr_db(sudden.samples, parts.sudden.samples),
            sdr_db(sudden.samples, mixture.samples) + 20);
}

// Stems whose channels are alike have singular covariances; silent ones have none.
TEST(Masks, OfAlikeChannelsAndSilenceAreFinite) {
  const auto tone = audio::tone(440, 1, 22050), noise = hum::testing::ruled("noise", 22050);
  const std::vector<AudioBuffer> stems{audio::from_mono(tone, 22050, 2),
                                       audio::from_mono(noise, 22050, 2),
                                       audio::from_mono(std::vector<float>(22050), 22050, 2)};
  const AudioBuffer mixture = sum_of(stems);
  for (const auto& estimates :
       {ideal_binary_masks(mixture, stems), ideal_ratio_masks(mixture, stems),
        ideal_wiener_filters(mixture, stems)}) {
    EXPECT_GT(sdr_db(stems[0].samples, estimates[0].samples), 10);
    EXPECT_GT(sdr_db(stems[1].samples, estimates[1].samples), 10);
    EXPECT_LT(level_dbfs(estimates[2].samples), -60);
  }
  const AudioBuffer nothing = audio::from_mono(std::vector<float>(22050), 22050, 2);
  EXPECT_EQ(best_scaled(nothing, stems[0]).samples, nothing.samples);
  EXPECT_EQ(steady_and_sudden(nothing).sudden.samples, nothing.samples);
}

TEST(Masks, RefuseStemsThatDoNotFit) {
  const AudioBuffer mono = audio::from_mono(std::vector<float>(5000), 22050);
  const AudioBuffer stereo = audio::from_mono(std::vector<float>(5000), 22050, 2);
  const AudioBuffer other = audio::from_mono(std::vector<float>(5000), 44100);
  for (const auto& stem : {stereo, other}) {
    EXPECT_THROW(ideal_binary_masks(mono, {&stem, 1}), Error);
    EXPECT_THROW(ideal_wiener_filters(mono, {&stem, 1}), Error);
    EXPECT_THROW(best_scaled(mono, stem), Error);
    EXPECT_THROW(sum_of(std::vector{mono, stem}), Error);
  }
  EXPECT_THROW(sum_of({}), Error);
  const AudioBuffer many = audio::from_mono(std::vector<float>(5000), 22050, 9);
  EXPECT_THROW(ideal_wiener_filters(many, {&many, 1}), Error);
}

}  // namespace
}  // namespace hum::eval
