// How notes die away after the first second.
#include "models/humming/late_decay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "models/humming/testing_impl.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kFirst = LateDecay::kFirstFrame;

// A note that falls by so many dB a frame.
std::vector<float> falling(int64_t frames, float fall_db) {
  std::vector<float> levels;
  for (int64_t t = 0; t < frames; ++t) levels.push_back(-10 - fall_db * static_cast<float>(t));
  return levels;
}

LateDecay decay_of(const std::vector<float>& levels_db, float pitch = 60) {
  std::vector<float> melody;
  add_note_rows(melody, pitch, std::ssize(levels_db));
  return {levels_db, melody, std::vector<uint8_t>(levels_db.size(), 1)};
}

TEST(LateDecay, FollowsTheNoteAndGoesOnAfterItsEnd) {
  const LateDecay decay = decay_of(falling(150, 0.1F));
  EXPECT_FALSE(decay.is_steady());
  EXPECT_EQ(decay.gain_db(60, 0), 0);
  EXPECT_EQ(decay.gain_db(60, kFirst), 0);
  EXPECT_NEAR(decay.gain_db(60, kFirst + 40), -4, 0.2);
  EXPECT_NEAR(decay.gain_db(60, kFirst + 200), -20, 1);
  EXPECT_EQ(decay_of(falling(150, 2)).gain_db(60, 300), -60);
}

TEST(LateDecay, SlowsDownAfterANoteThatEndsEarly) {
  const LateDecay decay = decay_of(falling(43, 0.4F));
  const double fall = -decay.gain_db(60, kFirst + 50);
  EXPECT_GT(fall, 0.3 * 50 * 0.4);
  EXPECT_LT(fall, 0.6 * 50 * 0.4);
}

TEST(LateDecay, OfANoteThatHasDiedAwayGoesOn) {
  auto levels = falling(45, 1);
  levels.resize(200, -60);  // the noise of a room
  EXPECT_NEAR(decay_of(levels).gain_db(60, kFirst + 30), -30, 3);
}

// Levels that go from one to the next in so many frames each.
std::vector<float> shape(float first_db, const std::vector<std::pair<int, float>>& parts) {
  std::vector<float> levels = {first_db};
  for (const auto& [frames, to_db] : parts) {
    const float from_db = levels.back();
    for (int t = 1; t <= frames; ++t) {
      levels.push_back(from_db +
                       (to_db - from_db) * static_cast<float>(t) / static_cast<float>(frames));
    }
  }
  return levels;
}

TEST(LateDecay, OfABowedOrBlownNoteIsNone) {
  const std::vector<std::vector<float>> held = {
      shape(-20, {{200, -20}}),
      shape(-20, {{100, -10}, {40, -14}}),            // a swell
      shape(-20, {{70, -20}, {50, -32}}),             // a diminuendo at the end
      shape(-20, {{25, -20}, {15, -70}, {20, -70}}),  // its end is heard late
      shape(-20, {{15, -20}, {3, -70}, {20, -70}}),   // short
      shape(-18, {{5, -20}, {20, -21}, {5, -40}}),    // an accent
      shape(-20, {{20, -20}, {10, -32}}),
  };
  for (size_t i = 0; i < held.size(); ++i) EXPECT_TRUE(decay_of(held[i]).is_steady()) << i;
  EXPECT_TRUE(decay_of(falling(19, 1)).is_steady());  // too short to tell
  EXPECT_EQ(LateDecay().gain_db(60, 300), 0);
}

TEST(LateDecay, OfADrumIsFast) {
  EXPECT_LT(decay_of(shape(-10, {{12, -60}, {40, -70}})).gain_db(60, kFirst + 25), -55);
}

TEST(LateDecay, OfWhatFallsAndThenStandsStillIsThat) {
  const LateDecay decay = decay_of(shape(-10, {{110, -30}, {190, -30}}));
  EXPECT_NEAR(decay.gain_db(60, 150), -9, 1);
  EXPECT_NEAR(decay.gain_db(60, 300), -9, 1);
}

TEST(LateDecay, LeavesOutBeats) {
  auto levels = falling(300, 0.05F);
  for (size_t t = 0; t < levels.size(); ++t) {
    levels[t] += 4 * std::sin(0.1F * static_cast<float>(t));  // a second each
  }
  const LateDecay decay = decay_of(levels);
  double before = 0;
  for (int64_t age = 0; age <= 300; age += 5) {
    const double gain = decay.gain_db(60, age);
    EXPECT_LE(gain, before + 1e-9) << age;
    before = gain;
  }
  EXPECT_NEAR(before, -12, 3);
}

TEST(LateDecay, IsThatOfTheNearestNote) {
  std::vector<float> melody, levels = falling(120, 0.1F);
  add_note_rows(melody, 48, 120);
  add_note_rows(melody, 84, 120);
  levels.insert(levels.end(), 120, -20);
  const LateDecay decay(levels, melody, std::vector<uint8_t>(240, 1));
  EXPECT_NEAR(decay.gain_db(47, kFirst + 100), -10, 0.5);
  EXPECT_NEAR(decay.gain_db(85, kFirst + 100), 0, 0.5);
  EXPECT_NEAR(decay.gain_db(66, kFirst + 100), -5, 0.3);
}

TEST(LateDecay, SurvivesAsATable) {
  const LateDecay decay = decay_of(falling(150, 0.1F));
  const auto table = decay.table();
  ASSERT_EQ(std::ssize(table), LateDecay::kTableColumns);
  const auto read = LateDecay::of_table(table);
  ASSERT_TRUE(read);
  for (const int64_t age : {0, 60, 75, 100, 155, 250, 300}) {
    EXPECT_NEAR(read->gain_db(60, age), decay.gain_db(60, age), 1e-4) << age;
  }
  EXPECT_EQ(read->table(), table);
  for (const auto& [column, value] :
       {std::pair{0, NAN}, std::pair{1, 0.0F}, std::pair{2, -1.0F}, std::pair{3, 1.0F}}) {
    auto damaged = table;
    damaged[static_cast<size_t>(column)] = value;
    EXPECT_FALSE(LateDecay::of_table(damaged)) << column;
  }
  EXPECT_FALSE(LateDecay::of_table(std::span(table).subspan(1)));
}

}  // namespace
}  // namespace hum::models::humming
