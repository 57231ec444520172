#include "models/ear/notes.h"

#include <gmock/gmock.h>

#include <numbers>

#include "models/ear/testing.h"

namespace hum::models::ear {
namespace {

using testing::Each;

std::vector<audio::Note> played(const Played& frames) {
  return played_notes(frames.frames(), decode(frames.frames()));
}

TEST(EarNotes, HaveTheSungPitchAndTheConfidence) {
  const auto frames = Played(2).note(0.3, 1.3, 57.2).frames();
  const auto heard = decode(frames);
  const auto notes = played_notes(frames, heard);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NEAR(notes[0].start_s, 0.3, 0.01);
  EXPECT_NEAR(notes[0].end_s, 1.3, 0.015);
  EXPECT_EQ(notes[0].pitch, 57);
  EXPECT_NEAR(audio::cents_of(notes[0]), 20, 5);
  EXPECT_EQ(notes[0].hz, heard[0].hz);
  EXPECT_EQ(notes[0].confidence, heard[0].confidence);
  EXPECT_GT(notes[0].confidence, 0.8);
  EXPECT_TRUE(played_notes(frames, {}).empty());
}

TEST(EarNotes, BendRelativeToTheSingersTuning) {
  Played sharp(6);
  for (int i = 0; i < 5; ++i) sharp.note(i, i + 0.9, 60 + i + 0.45);
  const auto heard = decode(sharp.frames());
  EXPECT_NEAR(mean_tuning_cents(heard), 45, 5);
  for (const auto& note : played_notes(sharp.frames(), heard)) {
    EXPECT_THAT(note.bends, Each(0)) << note.pitch;
  }
  EXPECT_EQ(mean_tuning_cents({}), 0);
}

TEST(EarNotes, BendWithTheVibrato) {
  const auto vibrato = [](double time_s) { return std::sin(2 * std::numbers::pi * 5.5 * time_s); };
  const auto notes = played(Played(2).note(0.2, 1.7, 64, vibrato));
  ASSERT_EQ(notes.size(), 1U);
  const auto [least, most] = std::ranges::minmax(notes[0].bends);
  EXPECT_EQ(least, -3);
  EXPECT_EQ(most, 3);
  for (const double at_s : {0.7, 1.05, 1.4}) {
    EXPECT_NEAR(audio::pitch_at(notes[0], at_s), 64 + vibrato(at_s - 0.2), 0.4) << at_s;
  }
}

TEST(EarNotes, SlurredNotesTouch) {
  const auto notes = played(Played(3).note(0.5, 1, 57).note(1, 1.4, 59).note(1.8, 2.5, 55));
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0].end_s, notes[1].start_s);
  EXPECT_LT(notes[1].end_s, 1.5);
}

}  // namespace
}  // namespace hum::models::ear
