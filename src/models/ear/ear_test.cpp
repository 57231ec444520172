#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "audio/notes.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "models/ear/decoder.h"
#include "models/ear/ear_session.h"
#include "models/ear/grid.h"
#include "models/testing.h"

namespace hum::models::ear {
namespace {

// Frames of a perfect ear.
class Played {
 public:
  explicit Played(double seconds)
      : frames_(static_cast<int64_t>(seconds * kSampleRateHz / kHop)),
        result_{.voiced = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .onset = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .offset = std::vector<float>(static_cast<size_t>(frames_), 0.01F),
                .f0 = uniform(),
                .note = uniform()} {}

  // `f0`: semitones above the note's pitch over time.
  Played& note(
      double start_s, double end_s, double midi,
      const std::function<double(double)>& f0 = [](double) { return 0.0; }) {
    for (int64_t t = 0; t < frames_; ++t) {
      const double at_s = frame_s(static_cast<double>(t));
      const auto i = static_cast<size_t>(t);
      result_.onset[i] = std::max(result_.onset[i],
                                  static_cast<float>(0.95 * (1 - std::abs(at_s - start_s) / 0.02)));
      if (at_s < start_s || at_s >= end_s) continue;
      result_.voiced[i] = 0.98F;
      peak(result_.f0.row(t), midi + f0(at_s - start_s));
      peak(result_.note.row(t), midi);
    }
    return *this;
  }
  const Frames& frames() const { return result_; }

 private:
  audio::Matrix<float> uniform() const {
    audio::Matrix<float> matrix(frames_, kPitches);
    std::ranges::fill(matrix.values, 1 / static_cast<float>(kPitches));
    return matrix;
  }
  static void peak(std::span<float> row, double midi) {
    double sum = 0;
    for (size_t bin = 0; bin < row.size(); ++bin) {
      const double off = (static_cast<double>(bin) - pitch_bin(midi)) / 1.25;
      row[bin] = static_cast<float>(std::exp(-0.5 * off * off) + 1e-4);
      sum += row[bin];
    }
    for (float& p : row) p /= static_cast<float>(sum);
  }

  int64_t frames_;
  Frames result_;
};

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

TEST(EarSession, EveryFrameHasItsSurroundings) {
  const ScratchFolder folder;
  write_tiny_weights(folder.path(), "ear");
  runtime::Session session;
  const EarSession ear(session, folder.path() / "ear");
  Rng rng(1, "noise");
  std::vector<float> sound(23 * static_cast<size_t>(kSampleRateHz));
  for (float& sample : sound) sample = static_cast<float>(0.1 * rng.normal());
  const Frames all = ear.listen(sound);
  EXPECT_EQ(all.size(), std::ssize(sound) / kHop + 1);
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
