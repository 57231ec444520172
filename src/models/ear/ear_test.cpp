#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "audio/notes.h"
#include "base/bf16.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "models/ear/decoder.h"
#include "models/ear/ear_session.h"
#include "models/ear/grid.h"
#include "models/ear/testing.h"
#include "models/testing.h"

namespace hum::models::ear {
namespace {

double midi_of(const HeardNote& note) { return audio::hz_to_midi(note.hz); }

TEST(Decoder, FindsNotesAndRests) {
  const auto notes =
      decode(Played(3).note(0.5, 1, 57).note(1, 1.4, 59).note(1.8, 2.5, 55).frames());
  ASSERT_EQ(notes.size(), 3U);
  const double expected[3][3] = {{0.5, 1, 57}, {1, 1.4, 59}, {1.8, 2.5, 55}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(notes[i].start_s, expected[i][0], 0.01);
    EXPECT_NEAR(notes[i].end_s, expected[i][1], 0.015);
    EXPECT_NEAR(midi_of(notes[i]), expected[i][2], 0.05);
    EXPECT_EQ(notes[i].pitch, expected[i][2]);
    EXPECT_GT(notes[i].confidence, 0.8);
  }
  EXPECT_TRUE(decode(Played(2).frames()).empty());
  EXPECT_TRUE(decode(Played(0).frames()).empty());
}

TEST(Decoder, ARepeatedPitchIsTwoNotes) {
  EXPECT_EQ(decode(Played(2).note(0.2, 0.8, 60).note(0.8, 1.5, 60).frames()).size(), 2U);
}

TEST(Decoder, VibratoIsOneNoteAtItsCentre) {
  const auto vibrato = [](double time_s) { return std::sin(2 * std::numbers::pi * 5.5 * time_s); };
  const auto notes = decode(Played(2).note(0.2, 1.7, 64, vibrato).frames());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NEAR(midi_of(notes[0]), 64, 0.15);
}

TEST(Decoder, WrittenPitchesFollowTheSingersTuning) {
  Played sharp(6), drifting(12);
  for (int i = 0; i < 5; ++i) sharp.note(i, i + 0.9, 60 + i + 0.45);
  const auto notes = decode(sharp.frames());
  ASSERT_EQ(notes.size(), 5U);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(notes[i].pitch - notes[0].pitch, static_cast<int>(i));
  // Down by 60 cents over ten notes of one melody.
  const int melody[] = {60, 62, 64, 65, 67, 65, 64, 62, 60, 62};
  for (int i = 0; i < 10; ++i) drifting.note(i, i + 0.9, melody[i] - 0.06 * i);
  const auto drifted = decode(drifting.frames());
  ASSERT_EQ(drifted.size(), 10U);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(drifted[i].pitch, melody[i]) << i;
}

TEST(Decoder, ATuningMayDriftByMoreThanHalfASemitone) {
  Played drifting(21);
  for (int i = 0; i < 21; ++i) drifting.note(i, i + 0.9, 60 + i % 3 + 0.04 * i);
  const auto notes = decode(drifting.frames());
  ASSERT_EQ(notes.size(), 21U);
  for (int i = 0; i < 21; ++i) EXPECT_EQ(notes[static_cast<size_t>(i)].pitch, 60 + i % 3) << i;
  EXPECT_NEAR(notes.back().tuning_cents, 80, 20);  // a walk that lags behind
}

TEST(Frames, HaveAPitchBetweenTheBins) {
  for (const double midi : {45.0, 60.07, 60.1, 83.93}) {
    const auto frames = Played(0.1).note(0, 0.1, midi).frames();
    EXPECT_NEAR(audio::hz_to_midi(frame_hz(frames, 4)), midi, 0.005);
  }
}

TEST(Frames, HavePeaksWithinReach) {
  std::vector<uint16_t> row(static_cast<size_t>(kPitches));
  row[40] = row[42] = to_bf16(0.1F);
  row[41] = to_bf16(0.2F);
  row[100] = to_bf16(0.6F);
  row[kPitches - 1] = to_bf16(0.5F);
  EXPECT_EQ(peak_bin(row, 60, 200), 100);
  EXPECT_NEAR(peak_bin(row, 60, 30), 41, 1e-6);
  EXPECT_EQ(peak_bin(row, kPitches, 20), kPitches - 1);
  EXPECT_EQ(peak_bin(row, 60, 5), 60);
}

TEST(EarSession, EveryFrameHasItsSurroundings) {
  const ScratchFolder folder;
  write_tiny_weights(folder.path(), "ear");
  runtime::Session session;
  const EarSession ear(session, folder.path() / "ear");
  Rng rng(1, "noise");
  std::vector<float> sound(23 * static_cast<size_t>(kSampleRateHz));
  for (float& sample : sound) sample = static_cast<float>(0.1 * rng.normal());
  std::vector<double> progress;
  const Frames all = ear.listen(sound, 1, [&](double done) { progress.push_back(done); });
  EXPECT_EQ(all.size(), std::ssize(sound) / kHop + 1);
  EXPECT_EQ(progress.size(), 3U) << "one for each window";
  EXPECT_TRUE(std::ranges::is_sorted(progress));
  EXPECT_EQ(progress.back(), 1);
  constexpr int64_t kFrom = 700;
  const Frames part = ear.listen(std::span(sound).subspan(static_cast<size_t>(kFrom * kHop)));
  for (int64_t t = 100; t < part.size(); ++t) {
    EXPECT_NEAR(part.voiced[static_cast<size_t>(t)], all.voiced[static_cast<size_t>(kFrom + t)],
                1e-4)
        << t;
    for (int64_t bin = 0; bin < kPitches; bin += 41) {
      EXPECT_NEAR(part.note(t, bin), all.note(kFrom + t, bin), 1e-4) << t;
    }
  }
  EXPECT_EQ(ear.listen({}).size(), 0);
}

}  // namespace
}  // namespace hum::models::ear
