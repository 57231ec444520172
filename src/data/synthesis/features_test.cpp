#include "data/synthesis/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "data/synthesis/window.h"

namespace hum::data {
namespace {

class Table {
 public:
  Table(std::span<const audio::Note> notes, int64_t frames)
      : values_(melody_features(notes, frames, kAllMelodyFeatures)) {}
  float at(int64_t frame, MelodyFeature feature) const {
    return values_[frame * kAllMelodyFeatures + static_cast<int>(feature)];
  }
  double pitch(int64_t frame) const { return 32 * at(frame, MelodyFeature::kPitch) + 64; }

 private:
  std::vector<float> values_;
};

double count(int64_t frames) { return std::min(1.0, std::log1p(frames) / std::log1p(50)); }

// kPreviousPitch of a MIDI pitch, and kSincePrevious.
double pitch_value(double pitch) { return (pitch - 64) / 32; }
double long_log_count(int64_t frames) { return std::log1p(frames) / std::log1p(300); }

TEST(Features, LineUpWithOnsetsAndEndsToTheFrame) {
  // Frames 10..24 and 25..39.
  const std::vector<audio::Note> notes = {{0.20, 0.50, 60, 0.5, {}}, {0.519, 0.80, 62, 0.7, {}}};
  const Table table(notes, 60);
  for (int64_t f = 0; f < 60; ++f) {
    EXPECT_EQ(table.at(f, MelodyFeature::kOnset), f == 10 || f == 25 ? 1 : 0) << f;
    EXPECT_EQ(table.at(f, MelodyFeature::kSounding), f >= 10 && f < 40 ? 1 : 0) << f;
  }
  EXPECT_NEAR(table.at(10, MelodyFeature::kSinceOnset), 0, 1e-6);
  EXPECT_NEAR(table.at(14, MelodyFeature::kSinceOnset), count(4), 1e-6);
  EXPECT_NEAR(table.at(24, MelodyFeature::kToEnd), count(1), 1e-6);
  EXPECT_NEAR(table.at(45, MelodyFeature::kSinceEnd), count(6), 1e-6);
  EXPECT_NEAR(table.at(45, MelodyFeature::kSinceOnset), count(20), 1e-6);
  EXPECT_EQ(table.at(30, MelodyFeature::kSinceEnd), 0);
  EXPECT_NEAR(table.at(12, MelodyFeature::kLoudness), 0.5, 1e-6);
  EXPECT_NEAR(table.at(30, MelodyFeature::kLoudness), 0.7, 1e-6);
}

TEST(Features, GivePitchAsFractionAndAngleAndKeepItInSilence) {
  const std::vector<audio::Note> notes = {{0.1, 0.2, 67, 0.5, {}}};
  const Table table(notes, 20);
  for (const int64_t f : {0, 7, 15}) EXPECT_NEAR(table.pitch(f), 67, 1e-4) << f;
  const double angle = 2 * std::numbers::pi * 67 / 12;
  EXPECT_NEAR(table.at(7, MelodyFeature::kPitchSin), std::sin(angle), 1e-6);
  EXPECT_NEAR(table.at(7, MelodyFeature::kPitchCos), std::cos(angle), 1e-6);
  EXPECT_EQ(table.at(0, MelodyFeature::kSinceEnd), 1);
  EXPECT_EQ(table.at(0, MelodyFeature::kSinceOnset), 1);
}

TEST(Features, CountUpToSixSeconds) {
  // Frames 10..24 and 50..399.
  const std::vector<audio::Note> notes = {{0.2, 0.5, 60, 0.5, {}}, {1, 8, 67, 0.5, {}}};
  const Table table(notes, 420);
  const auto expect = [&](int64_t frame, double since_onset, double since_end) {
    EXPECT_NEAR(table.at(frame, MelodyFeature::kLongSinceOnset), since_onset, 1e-6) << frame;
    EXPECT_NEAR(table.at(frame, MelodyFeature::kLongSinceEnd), since_end, 1e-6) << frame;
  };
  expect(0, 1, 1);  // before the first note
  expect(10, 0, 0);
  expect(24, 14.0 / 300, 0);
  expect(30, 20.0 / 300, 6.0 / 300);
  expect(50, 0, 0);
  expect(200, 0.5, 0);
  expect(360, 1, 0);
  expect(405, 1, 6.0 / 300);
}

TEST(Features, NameThePreviousNote) {
  const std::vector<audio::Note> notes = {{0.2, 0.5, 60, 0.5, {}}, {1, 8, 67, 0.5, {}}};
  const Table table(notes, 420);
  const auto expect = [&](int64_t frame, double pitch, double since) {
    EXPECT_NEAR(table.at(frame, MelodyFeature::kPreviousPitch), pitch_value(pitch), 1e-6) << frame;
    EXPECT_NEAR(table.at(frame, MelodyFeature::kSincePrevious), since, 1e-6) << frame;
  };
  for (const int64_t frame : {0, 12, 30}) expect(frame, 60, 1);  // none: its own pitch
  expect(50, 60, long_log_count(26));
  expect(100, 60, long_log_count(76));
  expect(399, 60, 1);
  expect(405, 60, 1);  // the release of the second note
}

TEST(Features, TakeTheHighestNoteOfAPreviousChord) {
  const std::vector<audio::Note> notes = {
      {0, 1, 60, 0.5, {}}, {0.8, 1.5, 72, 0.5, {}}, {0.8, 1.5, 64, 0.5, {}}, {1.6, 2, 65, 0.5, {}}};
  const Table table(notes, 110);
  const auto expect = [&](int64_t frame, double pitch, double since) {
    EXPECT_NEAR(table.at(frame, MelodyFeature::kPreviousPitch), pitch_value(pitch), 1e-6) << frame;
    EXPECT_NEAR(table.at(frame, MelodyFeature::kSincePrevious), since, 1e-6) << frame;
  };
  expect(45, 60, 0);  // it still sounds
  expect(52, 60, long_log_count(3));
  expect(82, 72, long_log_count(8));
}

TEST(Features, OfTheSecondSetBeginWithTheFirst) {
  const std::vector<audio::Note> notes = {{0.2, 0.5, 60, 0.5, {0, 1}}, {1, 3, 67, 0.5, {}}};
  const auto first = melody_features(notes, 200);
  const Table both(notes, 200);
  ASSERT_EQ(first.size(), size_t{200 * kMelodyFeatures});
  for (int64_t f = 0; f < 200; ++f) {
    for (int column = 0; column < kMelodyFeatures; ++column) {
      EXPECT_EQ(first[static_cast<size_t>(f * kMelodyFeatures + column)],
                both.at(f, static_cast<MelodyFeature>(column)));
    }
  }
}

TEST(Features, IncludeBends) {
  std::vector<int> bends(44, 3);
  std::fill_n(bends.begin(), 22, 0);
  const std::vector<audio::Note> notes = {{0, 0.5, 60, 0.5, bends}};
  const Table table(notes, 25);
  EXPECT_NEAR(table.pitch(5), 60, 1e-4);
  EXPECT_NEAR(table.pitch(20), 61, 1e-4);
}

TEST(Features, GiveFramesOfChordsToTheHighestNote) {
  const std::vector<audio::Note> notes = {
      {0, 0.4, 72, 0.9, {}}, {0, 0.4, 60, 0.4, {}}, {0.2, 1.0, 64, 0.6, {}}};
  const Table table(notes, 50);
  EXPECT_NEAR(table.pitch(0), 72, 1e-4);
  EXPECT_NEAR(table.pitch(15), 72, 1e-4);
  EXPECT_EQ(table.at(10, MelodyFeature::kOnset), 0);  // the onset of a covered voice
  EXPECT_NEAR(table.pitch(30), 64, 1e-4);
}

TEST(Features, OfAWindowAreThoseOfTheWholePiece) {
  std::vector<audio::Note> notes = {
      {0.1, 0.9, 60, 0.5, {0, 1, 2, 3}}, {0.9, 1.3, 64, 0.6, {}}, {2.0, 2.6, 67, 0.7, {}}};
  const auto whole = melody_features(notes, 150, kAllMelodyFeatures);
  for (const int64_t first : {20, 55, 80}) {
    const auto moved = shifted(notes, -static_cast<double>(first) / 50);
    const auto window = melody_features(moved, 150 - first, kAllMelodyFeatures);
    for (size_t i = 0; i < window.size(); ++i) {
      ASSERT_NEAR(window[i], whole[i + first * kAllMelodyFeatures], 1e-5) << first << " " << i;
    }
  }
}

TEST(Features, OfNoNotesAreSilent) {
  const Table table({}, 3);
  EXPECT_EQ(table.at(1, MelodyFeature::kSounding), 0);
  EXPECT_EQ(table.at(1, MelodyFeature::kLoudness), 0);
  EXPECT_EQ(table.pitch(1), 64);
}

TEST(Features, GiveShortNotesOneFrame) {
  const std::vector<audio::Note> notes = {{0.105, 0.109, 60, 0.5, {}}};
  const Table table(notes, 10);
  EXPECT_EQ(table.at(5, MelodyFeature::kSounding), 1);
  EXPECT_EQ(table.at(6, MelodyFeature::kSounding), 0);
}

}  // namespace
}  // namespace hum::data
