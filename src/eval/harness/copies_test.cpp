#include "eval/harness/copies.h"

#include <gmock/gmock.h>

#include <numbers>

#include "base/error.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/harness/testing_impl.h"

namespace hum::eval {
namespace {

constexpr double kSeconds = 4;

const std::vector<Clip>& clips() {
  static const auto made = [] {
    const std::vector presets = {&data::find_preset("flute"), &data::find_preset("piano")};
    return make_clips(presets, 999, kSeconds, testing::render);
  }();
  return made;
}

std::vector<float> same(const Clip& clip, size_t) { return clip.samples; }

TEST(Clips, HaveTheirPresetTheirLengthAndTheLevelOfTraining) {
  ASSERT_EQ(clips().size(), 2U);
  EXPECT_EQ(clips()[0].preset->name, "flute");
  for (const auto& clip : clips()) {
    EXPECT_EQ(clip.samples.size(), static_cast<size_t>(data::sample_of(kSeconds)));
    EXPECT_NEAR(data::active_rms(clip.samples), data::kTargetRms, 1e-3);
    EXPECT_GE(clip.notes.size(), 4U);
  }
  EXPECT_NE(clips()[0].notes, clips()[1].notes);
}

TEST(Copies, ThePerfectCopyIsTheCeiling) {
  const auto ceiling = judge_copies(clips(), same, testing::basic_pitch());
  EXPECT_GT(ceiling.mean.chroma, 0.9);
  EXPECT_GT(ceiling.mean.f1, 0.4);
  EXPECT_EQ(ceiling.octave_db, 0);
  EXPECT_EQ(ceiling.clip_octave_db, 0);
  ASSERT_EQ(ceiling.clips.size(), 2U);
  EXPECT_DOUBLE_EQ(ceiling.mean.f1, (ceiling.clips[0].f1 + ceiling.clips[1].f1) / 2);
}

TEST(Copies, HalfTheLevelIsSixDecibels) {
  const auto copies = judge_copies(
      clips(),
      [](const Clip& clip, size_t) {
        auto samples = clip.samples;
        for (float& sample : samples) sample *= 0.5F;
        return samples;
      },
      testing::basic_pitch());
  EXPECT_NEAR(copies.octave_db, 20 * std::log10(2), 1e-3);
  EXPECT_NEAR(copies.clip_octave_db, 20 * std::log10(2), 1e-3);
  ASSERT_FALSE(copies.bands.empty());
  EXPECT_NEAR(copies.bands[4].difference_db(), -20 * std::log10(2), 1e-3);
}

TEST(Copies, AnothersMelodyIsFound) {
  std::vector<size_t> done;
  const auto copies = judge_copies(
      clips(), [](const Clip&, size_t i) { return clips()[1 - i].samples; }, testing::basic_pitch(),
      [&](size_t n) { done.push_back(n); });
  EXPECT_LT(copies.mean.chroma, 0.5);
  EXPECT_LT(copies.mean.f1, 0.3);
  EXPECT_THAT(done, ::testing::ElementsAre(1, 2));
}

TEST(Copies, AShortCopyLosesTheRest) {
  const auto copies = judge_copies(
      clips(),
      [](const Clip& clip, size_t) {
        return std::vector<float>(clip.samples.begin(),
                                  clip.samples.begin() + data::sample_of(kSeconds / 2));
      },
      testing::basic_pitch());
  EXPECT_LT(copies.mean.chroma, 0.75);
}

TEST(Copies, NeedClips) { EXPECT_THROW(judge_copies({}, same, testing::basic_pitch()), Error); }

}  // namespace
}  // namespace hum::eval
