// The residual of small references, by hand.
#include "models/humming/residual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/humming/config.h"

namespace hum::models::humming {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

constexpr size_t kFeatures = 9;

float count_feature(int64_t n) {
  return static_cast<float>(std::min(1.0, std::log1p(static_cast<double>(n)) / std::log1p(50.0)));
}

// A melody with the latents of a reference; the draft is all zeros. D = 1.
struct Passage {
  std::vector<float> melody, truth;
  std::vector<uint8_t> is_used;

  Passage& note(double pitch, int64_t frames, float truth_here = 0) {
    for (int64_t n = 0; n < frames; ++n) {
      auto& row = add(pitch, truth_here);
      row[kMelodySounding] = 1;
      row[kMelodyOnset] = n == 0 ? 1 : 0;
      row[kMelodySinceOnset] = count_feature(n);
      append(row);
    }
    return *this;
  }
  Passage& rest(double pitch, int64_t frames, float truth_here = 0) {
    for (int64_t n = 0; n < frames; ++n) {
      auto& row = add(pitch, truth_here);
      row[kMelodySinceEnd] = count_feature(n + 1);
      append(row);
    }
    return *this;
  }
  Residual learn(const ResidualRule& rule) const {
    return {truth, std::vector<float>(truth.size()), melody, is_used, rule};
  }
  // What is added to its latents, which are zeros here.
  std::vector<float> corrected(const Residual& residual, double share = 1) const {
    std::vector<float> latents(is_used.size());
    residual.add(latents, melody, share);
    return latents;
  }

 private:
  std::vector<float>& add(double pitch, float truth_here) {
    row_.assign(kFeatures, 0);
    row_[kMelodyPitch] = static_cast<float>((pitch - 64) / 32);
    truth.push_back(truth_here);
    is_used.push_back(1);
    return row_;
  }
  void append(const std::vector<float>& row) {
    melody.insert(melody.end(), row.begin(), row.end());
  }
  std::vector<float> row_;
};

constexpr ResidualRule kPlain{.shrink_frames = 0, .by_phase = false};

TEST(Residual, IsWhatTheDraftMissesOfTheReference) {
  const std::vector<float> truth = {1, 10, 3, 10}, draft = {0, 1, 0, 1};
  const auto melody = Passage().note(60, 2).melody;
  const Residual residual(truth, draft, melody, std::vector<uint8_t>{1, 1}, kPlain);
  std::vector<float> latents = {5, 5, 6, 6};
  residual.add(latents, melody, 1);
  EXPECT_THAT(latents, ElementsAre(7, 14, 8, 15));
  residual.add(latents, melody, -0.5);
  EXPECT_THAT(latents, ElementsAre(6, 9.5, 7, 10.5));
}

TEST(Residual, IsAveragedByPitchDistance) {
  const auto residual = Passage().note(60, 2, 1).note(66, 2, 3).learn(kPlain);
  const auto between = Passage().note(63, 1).note(60, 1).corrected(residual);
  EXPECT_FLOAT_EQ(between[0], 2);
  const double far = std::exp(-2.0);
  EXPECT_NEAR(between[1], (1 + 3 * far) / (1 + far), 1e-6);
}

TEST(Residual, ShrinksWithFewFramesAndLargeDistances) {
  const auto residual = Passage().note(60, 10, 1).learn({.shrink_frames = 10, .by_phase = false});
  EXPECT_NEAR(Passage().note(60, 1).corrected(residual)[0], 0.5, 1e-6);
  const double weight = 10 * std::exp(-4.0);
  EXPECT_NEAR(Passage().note(72, 1).corrected(residual)[0], weight / (weight + 10), 1e-6);
}

TEST(Residual, OfTheNearestNoteCountsFully) {
  ResidualRule rule = kPlain;
  rule.from_nearest = true;
  const auto one = Passage().note(60, 2, 1).learn(rule);
  EXPECT_THAT(Passage().note(90, 1).corrected(one), ElementsAre(1));
  const auto two = Passage().note(60, 2, 1).note(66, 2, 3).learn(rule);
  const double far = std::exp(-2.0);  // 6 semitones beyond the nearest
  EXPECT_NEAR(Passage().note(69, 1).corrected(two)[0], (1 * far + 3) / (1 + far), 1e-6);
}

TEST(Residual, MovesWithThePitchExceptInSilence) {
  ResidualRule rule = kPlain;
  rule.by_phase = true;
  rule.from_nearest = true;
  rule.moved = [](const std::vector<double>& residual, double semitones) {
    return std::vector{residual[0] + semitones};
  };
  const auto residual = Passage().note(60, 4, 1).rest(60, 20, -2).learn(rule);
  const auto played = Passage().note(63, 1).rest(63, 20).corrected(residual);
  EXPECT_FLOAT_EQ(played[0], 4);
  EXPECT_FLOAT_EQ(played[1], 1);  // it rings on
  EXPECT_FLOAT_EQ(played.back(), -2);
}

TEST(Residual, OfRestsIsNotThatOfNotes) {
  const auto reference = Passage().note(60, 4, 1).rest(60, 4, -2);
  const auto played = Passage().note(60, 1).rest(60, 1);
  EXPECT_THAT(played.corrected(reference.learn(kPlain)), ElementsAre(1, -2));
  ResidualRule rule = kPlain;
  rule.corrects_rests = false;
  EXPECT_THAT(played.corrected(reference.learn(rule)), ElementsAre(1, 0));
}

TEST(Residual, OfPhasesIsThatOfTheSameAge) {
  // The attack has 5 frames, the first part of the note ends after 20.
  Passage reference;
  reference.note(60, 30);
  for (size_t t = 0; t < 30; ++t) reference.truth[t] = t < 5 ? 1 : (t < 20 ? 2 : 3);
  ResidualRule rule = kPlain;
  const auto merged = Passage().note(60, 25).corrected(reference.learn(rule));
  EXPECT_FLOAT_EQ(merged[0], (5 + 30 + 30) / 30.0F);
  rule.by_phase = true;
  const auto played = Passage().note(60, 25).corrected(reference.learn(rule));
  EXPECT_FLOAT_EQ(played[4], 1);
  EXPECT_FLOAT_EQ(played[5], 2);
  EXPECT_FLOAT_EQ(played[20], 3);
}

TEST(Residual, LeavesFramesOfChordsOut) {
  auto reference = Passage().note(60, 2, 1).note(60, 2, 7);
  reference.is_used[2] = reference.is_used[3] = 0;
  EXPECT_THAT(Passage().note(60, 1).corrected(reference.learn(kPlain)), ElementsAre(1));
  reference.is_used.assign(4, 0);
  EXPECT_THAT(Passage().note(60, 1).corrected(reference.learn(kPlain)), ElementsAre(0));
}

// Means and pitches that no float holds: thirds, and a pitch between two notes.
Passage uneven_passage() {
  auto passage = Passage().note(60.3, 30, 0.1F).rest(60.3, 14, 0.7F).note(64.9, 7, -1.3F);
  for (size_t t = 0; t < passage.truth.size(); ++t) {
    passage.truth[t] += static_cast<float>(t * t % 7) / 3;
    passage.melody[t * kFeatures + kMelodyPitch] += static_cast<float>(t % 3) / 100;
  }
  return passage;
}

TEST(Residual, OfItsTableCorrectsExactlyAsBefore) {
  const auto reference = uneven_passage();
  const auto played = Passage().note(61, 25).rest(61, 12).note(66.5, 6);
  for (const ResidualRule& rule : {ResidualRule(), kPlain}) {
    const auto residual = reference.learn(rule);
    const auto table = residual.table();
    ASSERT_EQ(table.size(), 7U * (Residual::kTableColumns + 1));  // 3, 2 and 2 phases
    const auto stored = Residual::of_table(table, 1, rule);
    ASSERT_TRUE(stored.has_value());
    EXPECT_EQ(played.corrected(*stored), played.corrected(residual));
    EXPECT_EQ(stored->table(), table);
  }
}

TEST(Residual, TableHasARowForEachStretch) {
  const auto residual = Passage().note(60, 7, 2).rest(60, 11, -1).learn(kPlain);
  EXPECT_THAT(residual.table(), ElementsAre(0, 60, 5, 2, 1, 60, 2, 2, 3, 60, 10, -1, 4, 60, 1, -1));
}

TEST(Residual, OfAnEmptyTableCorrectsNothing) {
  const auto residual = Residual::of_table({}, 1);
  ASSERT_TRUE(residual.has_value());
  EXPECT_THAT(Passage().note(60, 1).corrected(*residual), ElementsAre(0));
}

TEST(Residual, RefusesTablesThatAreNone) {
  const std::vector<float> row = {1, 60, 5, 0.5F};
  const auto is_table = [](const std::vector<float>& rows, size_t latent = 1) {
    return Residual::of_table(rows, latent).has_value();
  };
  EXPECT_TRUE(is_table(row));
  EXPECT_FALSE(is_table(row, 0));
  EXPECT_FALSE(is_table(row, 2));
  EXPECT_FALSE(is_table({1, 60, 5, 0.5F, 1, 60}));
  EXPECT_FALSE(is_table({5, 60, 5, 0.5F}));
  EXPECT_FALSE(is_table({-1, 60, 5, 0.5F}));
  EXPECT_FALSE(is_table({1.5F, 60, 5, 0.5F}));
  EXPECT_FALSE(is_table({1, 60, -1, 0.5F}));
  for (size_t i = 0; i < row.size(); ++i) {
    auto damaged = row;
    damaged[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(is_table(damaged)) << i;
    damaged[i] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(is_table(damaged)) << i;
  }
}

TEST(Residual, RefusesOtherSizes) {
  const auto passage = Passage().note(60, 2, 1);
  const std::vector<float> draft(3);
  EXPECT_THROW(Residual(passage.truth, draft, passage.melody, passage.is_used), Error);
}

}  // namespace
}  // namespace hum::models::humming
