// How notes die away after the first second.
#include "models/humming/late_decay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "models/humming/config.h"
#include "models/humming/testing_impl.h"

namespace hum::models::humming {
namespace {

constexpr int64_t kHop = 441, kFirst = LateDecay::kFirstFrame;

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

TEST(LateDecay, OfABowedNoteIsNone) {
  EXPECT_TRUE(decay_of(std::vector<float>(200, -20)).is_steady());
  // A swell, and a fall at the end alone.
  auto levels = falling(100, -0.1F);
  for (int i = 0; i < 40; ++i) levels.push_back(levels.back() - 0.1F);
  EXPECT_TRUE(decay_of(levels).is_steady());
  EXPECT_EQ(decay_of(levels).gain_db(60, 300), 0);
  EXPECT_TRUE(decay_of(falling(19, 1)).is_steady());  // too short to tell
  EXPECT_EQ(LateDecay().gain_db(60, 300), 0);
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

TEST(LateDecay, QuietensNotesAndWhatFollowsThem) {
  const LateDecay decay = decay_of(falling(150, 0.1F));
  std::vector<float> melody;
  add_note_rows(melody, 60, 160);
  add_rest_rows(melody, 60, 160, 40);
  add_note_rows(melody, 60, 30);
  std::vector<float> samples(230 * kHop, 1);
  apply_decay(samples, melody, decay, 1);
  const auto level_db = [&](int64_t frame) {
    return 20 * std::log10(samples[static_cast<size_t>(frame * kHop + kHop / 2)]);
  };
  EXPECT_EQ(samples[40 * kHop], 1);
  EXPECT_NEAR(level_db(110), -5, 0.3);
  EXPECT_NEAR(level_db(159), -9.9, 0.3);
  EXPECT_NEAR(level_db(161), -10, 0.3);
  EXPECT_NEAR(level_db(195), -10, 0.3);
  EXPECT_NEAR(level_db(201), 0, 1e-3);
  // No step is heard as a click.
  for (size_t i = 1; i < samples.size(); ++i) {
    ASSERT_LT(std::abs(samples[i] - samples[i - 1]), 0.01) << i;
  }
  std::vector<float> half(230 * kHop, 1);
  apply_decay(half, melody, decay, 0.5);
  EXPECT_NEAR(20 * std::log10(half[110 * kHop]), -2.5, 0.3);
  EXPECT_THROW(apply_decay(std::span(half).first(100), melody, decay, 1), Error);
}

}  // namespace
}  // namespace hum::models::humming
