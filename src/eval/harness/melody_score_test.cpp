#include "eval/harness/melody_score.h"

#include <gmock/gmock.h>

#include <array>

#include "base/error.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"
#include "eval/harness/testing_impl.h"

namespace hum::eval {
namespace {

std::vector<float> sine(std::span<const audio::Note> notes) {
  return data::render_sine(notes, data::sample_of(4));
}

TEST(MelodyScore, ASineKeepsItsMelody) {
  const auto notes = testing::melody();
  const auto score = judge_melody(sine(notes), notes, testing::basic_pitch());
  EXPECT_GT(score.chroma, 0.99);
  EXPECT_GE(score.f1, 0.85);
}

TEST(MelodyScore, AnOctaveIsForgivenAToneIsNot) {
  const auto notes = testing::melody();
  const auto octave =
      judge_melody(sine(data::shifted(notes, 0, 12)), notes, testing::basic_pitch());
  EXPECT_GT(octave.chroma, 0.99);
  EXPECT_GE(octave.f1, 0.85);
  const auto tone = judge_melody(sine(data::shifted(notes, 0, 2)), notes, testing::basic_pitch());
  EXPECT_LT(tone.chroma, 0.05);
  EXPECT_LT(tone.f1, 0.05);
}

TEST(MelodyScore, LateNotesHaveTheRightChromaAndTheWrongOnsets) {
  const auto notes = testing::melody();
  const auto late = judge_melody(sine(data::shifted(notes, 0.09)), notes, testing::basic_pitch());
  EXPECT_GT(late.chroma, 0.7);
  EXPECT_LT(late.f1, 0.3);
  EXPECT_GE(late.f1_sung, 0.8);
}

TEST(MelodyScore, SilenceKeepsNothing) {
  const auto score =
      judge_melody(std::vector<float>(80000), testing::melody(), testing::basic_pitch());
  EXPECT_EQ(score.chroma, 0);
  EXPECT_EQ(score.f1, 0);
}

TEST(MelodyScore, IsDividedByItsCeilingFigureByFigure) {
  const auto kept = of_ceiling({.chroma = 0.9, .f1 = 0.4, .f1_sung = 0.6},
                               {.chroma = 0.96, .f1 = 0.5, .f1_sung = 0.8});
  EXPECT_DOUBLE_EQ(kept.chroma, 0.9375);
  EXPECT_DOUBLE_EQ(kept.f1, 0.8);
  EXPECT_DOUBLE_EQ(kept.f1_sung, 0.75);
  const auto nothing = of_ceiling({.chroma = 0.9, .f1 = 0.4}, {});
  EXPECT_EQ(nothing.chroma, 0);
  EXPECT_EQ(nothing.f1, 0);
}

TEST(MelodyScore, MeansAreOverClips) {
  const std::array scores = {MelodyScore{1, 0.5, 0.75}, MelodyScore{0.5, 0, 0.25}};
  EXPECT_DOUBLE_EQ(mean_of(scores).chroma, 0.75);
  EXPECT_DOUBLE_EQ(mean_of(scores).f1, 0.25);
  EXPECT_DOUBLE_EQ(mean_of(scores).f1_sung, 0.5);
  EXPECT_THROW(mean_of({}), Error);
}

}  // namespace
}  // namespace hum::eval
