// The level of a piece's notes by their age.
#include "pipeline/decay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

// Falls by 0.1 dB a frame: 5 dB a second.
double falling(double /*pitch*/, int64_t age_frames) {
  return -0.1 * static_cast<double>(age_frames);
}

std::vector<float> gains_of(const std::vector<audio::Note>& notes, double seconds) {
  std::vector<float> samples(static_cast<size_t>(data::sample_of(seconds)), 1);
  Decay(notes, falling).apply(samples, 0, 1);
  return samples;
}

double level_db(const std::vector<float>& gains, double at_s) {
  return 20 * std::log10(gains[static_cast<size_t>(data::sample_of(at_s))]);
}

TEST(Decay, FollowsTheAgeAndKeepsItsGainInTheRest) {
  const auto gains = gains_of({{.start_s = 1.013, .end_s = 9}, {.start_s = 12, .end_s = 13}}, 14);
  EXPECT_EQ(gains[100], 1);
  EXPECT_NEAR(level_db(gains, 3.013), -10, 0.02);
  EXPECT_NEAR(level_db(gains, 8.9), -39.4, 0.2);  // longer than the models count
  EXPECT_NEAR(level_db(gains, 11.9), -39.9, 0.2);
  EXPECT_NEAR(level_db(gains, 12.006), 0, 0.1);
  for (size_t i = 1; i < gains.size(); ++i) {
    ASSERT_LT(std::abs(gains[i] - gains[i - 1]), 0.011) << i;  // no click
  }
}

TEST(Decay, QuietensNoAttack) {
  const audio::Note held = {.start_s = 0, .end_s = 4, .pitch = 84};
  const auto gains = gains_of({held, {.start_s = 3, .end_s = 3.5, .pitch = 48}}, 4);
  EXPECT_NEAR(level_db(gains, 2.99), -14.9, 0.1);
  EXPECT_NEAR(level_db(gains, 3.01), 0, 0.1);
  EXPECT_NEAR(level_db(gains, 3.9), -2.4, 0.2);
}

TEST(Decay, OfAChordIsThatOfTheHighestNote) {
  const auto by_pitch = [](double pitch, int64_t age) {
    return pitch > 60 ? -0.1 * static_cast<double>(age) : -1.0 * static_cast<double>(age);
  };
  std::vector<float> samples(static_cast<size_t>(data::sample_of(2)), 1);
  Decay(std::vector<audio::Note>{{.end_s = 2, .pitch = 64}, {.end_s = 2, .pitch = 48}}, by_pitch)
      .apply(samples, 0, 1);
  EXPECT_NEAR(level_db(samples, 1), -5, 0.1);
}

TEST(Decay, OfAPartIsThatOfTheWhole) {
  const std::vector<audio::Note> notes = {{.end_s = 2}, {.start_s = 2.2, .end_s = 3}};
  const auto whole = gains_of(notes, 3);
  std::vector<float> stereo(2 * 10000, 1);
  Decay(notes, falling).apply(stereo, 44000, 2);
  for (size_t i = 0; i < 10000; ++i) {
    ASSERT_EQ(stereo[2 * i], whole[44000 + i]) << i;
    ASSERT_EQ(stereo[2 * i + 1], whole[44000 + i]) << i;
  }
}

TEST(Decay, WithoutAFunctionChangesNothing) {
  std::vector<float> samples(1000, 0.5F);
  Decay(std::vector<audio::Note>{{.end_s = 2}}, {}).apply(samples, 0, 1);
  Decay({}, falling).apply(samples, 0, 1);
  EXPECT_EQ(samples, std::vector<float>(1000, 0.5F));
}

}  // namespace
}  // namespace hum::pipeline
