// How much louder or quieter a reference's notes are than those that hum plays, by their age.
#include "models/humming/note_levels.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "models/humming/config.h"
#include "models/humming/melody_columns.h"
#include "models/humming/testing_impl.h"

namespace hum::models::humming {
namespace {

constexpr size_t kFeatures = kAllMelodyFeatures;

NoteLevels levels_of(const std::vector<float>& melody, const std::vector<float>& truth_db) {
  const std::vector<float> played_db(truth_db.size(), -30);
  return {truth_db, played_db, melody, std::vector<uint8_t>(truth_db.size(), 1)};
}

// Falls by 0.5 dB a frame.
std::vector<float> falling(size_t frames) {
  std::vector<float> levels;
  for (size_t t = 0; t < frames; ++t) levels.push_back(-30 - 0.5F * static_cast<float>(t));
  return levels;
}

TEST(NoteLevels, FollowTheAgeAndKeepTheLastDifference) {
  std::vector<float> melody;
  add_note_rows(melody, 60, 60);
  const NoteLevels levels = levels_of(melody, falling(60));
  EXPECT_NEAR(levels.difference_db(60, 0), 0, 1e-6);
  EXPECT_NEAR(levels.difference_db(60, 20), -10, 1);
  EXPECT_NEAR(levels.difference_db(60, 40), -20, 1.5);
  EXPECT_EQ(levels.difference_db(60, 200), levels.difference_db(60, 56));
  EXPECT_EQ(levels.difference_db(90, 20), levels.difference_db(60, 20));
}

TEST(NoteLevels, ALateOnsetIsNoSofterAttack) {
  std::vector<float> melody, truth_db(60, -30);
  add_note_rows(melody, 60, 60);
  truth_db[0] = truth_db[1] = -80;
  for (const int64_t age : {0, 1, 2, 5}) {
    EXPECT_NEAR(levels_of(melody, truth_db).difference_db(60, age), 0, 1e-6) << age;
  }
}

TEST(NoteLevels, AreThoseOfTheNearestNote) {
  std::vector<float> melody;
  add_note_rows(melody, 48, 40);
  add_note_rows(melody, 72, 40);
  std::vector<float> truth_db(40, -20);
  truth_db.insert(truth_db.end(), 40, -40);
  const NoteLevels levels = levels_of(melody, truth_db);
  EXPECT_NEAR(levels.difference_db(47, 10), 10, 1);
  EXPECT_NEAR(levels.difference_db(73, 10), -10, 1);
  EXPECT_NEAR(levels.difference_db(60, 10), 0, 1e-6);
}

// data/synthesis/features.cpp gives a frame that two notes share to the higher one.
TEST(NoteLevels, KnowANoteWhoseFirstFrameIsTheEndOfAHigherOne) {
  std::vector<float> melody;
  add_note_rows(melody, 72, 41);
  add_note_rows(melody, 48, 40);
  melody.erase(melody.begin() + 41 * kFeatures, melody.begin() + 42 * kFeatures);
  std::vector<float> truth_db(41, -20);
  truth_db.insert(truth_db.end(), 39, -40);
  EXPECT_NEAR(levels_of(melody, truth_db).difference_db(48, 10), -10, 1);
}

TEST(MelodyColumns, ARestHasTheAgeAtWhichItsNoteEnded) {
  const auto ages = [](int64_t length) {
    std::vector<float> melody;
    add_rest_rows(melody, 60, length, 100);
    std::vector<int64_t> result;
    for (size_t t = 0; t < 100; ++t) {
      result.push_back(last_age_frames(std::span(melody).subspan(t * kFeatures, kFeatures)));
    }
    return result;
  };
  EXPECT_EQ(ages(160), std::vector<int64_t>(100, 159));
  EXPECT_EQ(ages(400), std::vector<int64_t>(100, 300));  // the count ends there
  std::vector<float> before_the_first;
  add_row(before_the_first, 60, false, 300, 300);
  EXPECT_EQ(last_age_frames(before_the_first), 0);
}

TEST(NoteLevels, OfNoNotesAreNone) {
  const std::vector<float> rests(20 * kFeatures);
  EXPECT_EQ(levels_of(rests, std::vector<float>(20, -50)).difference_db(60, 3), 0);
  EXPECT_THROW(levels_of(rests, std::vector<float>(19, -50)), Error);
}

}  // namespace
}  // namespace hum::models::humming
