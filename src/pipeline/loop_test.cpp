#include "pipeline/loop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/test_signal.h"
#include "pipeline/generate.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr Tempo kTempo{.bpm = 120, .first_beat_s = 0.3, .confidence = 1};

TEST(Loop, IsAsManyBarsAsHoldTheMelody) {
  auto bars = [](double end_s, int64_t beats = 4) {
    const std::vector<Note> notes = {{0.3, 0.6, 60, 0.6, {}}, {0.7, end_s, 62, 0.6, {}}};
    return loop_of(notes, kTempo, beats).bars;
  };
  EXPECT_EQ(bars(0.9), 1);
  EXPECT_EQ(bars(2.3), 1);
  EXPECT_EQ(bars(2.5), 1);  // not half a beat into the next
  EXPECT_EQ(bars(2.7), 2);
  EXPECT_EQ(bars(2.7, 3), 2);
  EXPECT_DOUBLE_EQ(loop_of({}, kTempo, 4).length_s, 2);
}

// A note rings over the end of the loop: the second pass must continue where the first one stops.
TEST(Loop, TwoRoundsInARowHaveNoClick) {
  std::vector<float> sound = audio::tone(234.3, 2.6, 44100, 0.5);
  for (size_t i = 0; i < sound.size(); ++i) {
    const double t = static_cast<double>(i) / 44100;
    sound[i] *= static_cast<float>(std::min(1.0, 100 * t) * std::exp(-t));
  }
  fade_end(sound);
  const auto round = wrap(sound, 44100, {.start_s = 0.3, .length_s = 2, .bars = 1});
  ASSERT_EQ(round.size(), 88200U);
  std::vector<float> twice = round;
  twice.insert(twice.end(), round.begin(), round.end());
  auto bend = [&](size_t i) { return std::fabs(twice[i - 1] - 2 * twice[i] + twice[i + 1]); };
  double inside = 0, seam = 0;
  for (size_t i = 1; i + 1 < round.size(); ++i) inside = std::max<double>(inside, bend(i));
  for (size_t i = round.size() - 3; i < round.size() + 3; ++i)
    seam = std::max<double>(seam, bend(i));
  EXPECT_LE(seam, inside);
  EXPECT_GT(std::fabs(twice[round.size()]), 0.01);  // it does ring there
  // A cut at the same place would click.
  twice.assign(sound.begin(), sound.begin() + 88200);
  twice.insert(twice.end(), sound.begin(), sound.begin() + 88200);
  EXPECT_GT(std::max({bend(88199), bend(88200)}), 2 * inside);
}

TEST(Loop, IsTheSteadyStateOfPlayingAgainAndAgain) {
  const auto sound = audio::test_signal(5000, 1000);
  const Loop loop{.start_s = 0.25, .length_s = 2, .bars = 1};
  const auto round = wrap(sound, 1000, loop);
  std::vector<float> stacked(12000);
  for (size_t repeat = 0; repeat * 2000 < stacked.size(); ++repeat) {
    for (size_t i = 0; i < sound.size() && repeat * 2000 + i < stacked.size(); ++i) {
      stacked[repeat * 2000 + i] += sound[i];
    }
  }
  for (size_t i = 0; i < 2000; ++i) EXPECT_NEAR(round[i], stacked[8000 + 250 + i], 1e-5);
}

TEST(Loop, WrapsEachChannelByItself) {
  const auto left = audio::test_signal(5000, 1000), right = audio::tone(100, 5, 1000, 0.5);
  std::vector<float> both;
  for (size_t i = 0; i < left.size(); ++i) both.insert(both.end(), {left[i], right[i]});
  const Loop loop{.start_s = 0.25, .length_s = 2, .bars = 1};
  const auto round = wrap(both, 1000, loop, 2);
  const auto of_left = wrap(left, 1000, loop), of_right = wrap(right, 1000, loop);
  ASSERT_EQ(round.size(), 4000U);
  for (size_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(round[2 * i], of_left[i]);
    EXPECT_EQ(round[2 * i + 1], of_right[i]);
  }
}

TEST(Loop, NotesBeforeItsStartComeAtItsEnd) {
  const std::vector<Note> notes = {
      {0.1, 0.28, 60, 0.6, {}}, {0.3, 0.9, 62, 0.6, {1}}, {2.0, 2.6, 64, 0.6, {}}};
  const auto round = wrap_notes(notes, {.start_s = 0.3, .length_s = 2, .bars = 1});
  ASSERT_EQ(round.size(), 3U);
  EXPECT_EQ(round[0].pitch, 62);
  EXPECT_NEAR(round[0].start_s, 0, 1e-9);
  EXPECT_NEAR(round[1].start_s, 1.7, 1e-9);
  EXPECT_EQ(round[2].pitch, 60);
  EXPECT_NEAR(round[2].start_s, 1.8, 1e-9);
  EXPECT_NEAR(round[2].end_s, 1.98, 1e-9);
}

}  // namespace
}  // namespace hum::pipeline
