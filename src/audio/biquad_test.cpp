#include "audio/biquad.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace hum::audio {
namespace {

constexpr int kRate = 44100;

// The gain of a filter for a sine, once it has settled, in dB; in the second of two channels.
double gain_db(const Biquad& biquad, double hz) {
  std::vector<float> samples(2 * kRate);
  for (size_t i = 0; i < kRate; ++i) {
    samples[2 * i + 1] =
        static_cast<float>(std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / kRate));
  }
  filter(biquad, samples, 2);
  double power = 0;
  for (size_t i = kRate / 2; i < kRate; ++i) {
    EXPECT_EQ(samples[2 * i], 0);
    power += samples[2 * i + 1] * samples[2 * i + 1];
  }
  return 10 * std::log10(power / (kRate / 2.0) * 2);
}

TEST(Biquad, HasItsGainsAtBothEnds) {
  EXPECT_NEAR(gain_db(shelf_filter(250, kRate, 6, true), 30), 6, 0.1);
  EXPECT_NEAR(gain_db(shelf_filter(250, kRate, 6, true), 8000), 0, 0.1);
  EXPECT_NEAR(gain_db(shelf_filter(2500, kRate, -4, false), 16000), -4, 0.1);
  EXPECT_NEAR(gain_db(shelf_filter(2500, kRate, -4, false), 100), 0, 0.1);
  EXPECT_NEAR(gain_db(peak_filter(1000, kRate, 9, 1), 1000), 9, 0.01);
  EXPECT_NEAR(gain_db(peak_filter(1000, kRate, 9, 1), 20), 0, 0.1);
}

TEST(Biquad, CutsAtItsFrequencyByThreeDecibels) {
  EXPECT_NEAR(gain_db(cut_filter(1000, kRate, true), 1000), -3.01, 0.01);
  EXPECT_NEAR(gain_db(cut_filter(1000, kRate, false), 1000), -3.01, 0.01);
  EXPECT_LT(gain_db(cut_filter(1000, kRate, true), 10000), -39);
  EXPECT_NEAR(gain_db(cut_filter(1000, kRate, false), 10000), 0, 0.01);
}

}  // namespace
}  // namespace hum::audio
