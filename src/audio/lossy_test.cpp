#include "audio/lossy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/test_signal.h"

namespace hum::audio {
namespace {

constexpr int kRate_hz = 22050;

// A sweep from 200 to 3000 Hz, which only one lag aligns.
std::vector<float> sweep(int64_t samples) {
  std::vector<float> result;
  for (int64_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / kRate_hz;
    const double hz = 200 + 2800 * 0.5 * t / (static_cast<double>(samples) / kRate_hz);
    result.push_back(static_cast<float>(0.4 * std::sin(2 * std::numbers::pi * hz * t)));
  }
  return result;
}

double product(const std::vector<float>& a, const std::vector<float>& b, int64_t lag) {
  double sum = 0;
  for (int64_t i = std::max<int64_t>(0, -lag); i < std::ssize(a) && i + lag < std::ssize(b); ++i)
    sum += a[static_cast<size_t>(i)] * b[static_cast<size_t>(i + lag)];
  return sum;
}

// By how many samples `b` is later than `a`.
int64_t lag_of(const std::vector<float>& a, const std::vector<float>& b) {
  int64_t best = 0;
  for (int64_t lag = -1500; lag <= 1500; ++lag)
    if (product(a, b, lag) > product(a, b, best)) best = lag;
  return best;
}

struct Rate {
  Lossy codec;
  double kbps;
  int64_t most_lag;
};

TEST(Lossy, SoundComesBackInPlaceAtItsLevel) {
  // Low rates of Opus shift phases; MP3 at 96 kbit/s says its delay, the others do not.
  const Rate rates[] = {{Lossy::kOpus, 64, 1}, {Lossy::kOpus, 32, 1}, {Lossy::kOpus, 8, 5},
                        {Lossy::kMp3, 96, 1},  {Lossy::kMp3, 48, 1},  {Lossy::kMp3, 16, 1}};
  for (const int64_t samples : {22050, 15001}) {
    const auto before = sweep(samples);
    for (const Rate& rate : rates) {
      const auto after = through_codec(before, kRate_hz, rate.codec, rate.kbps);
      ASSERT_EQ(after.size(), before.size());
      const int64_t lag = lag_of(before, after);
      EXPECT_LE(std::abs(lag), rate.most_lag) << static_cast<int>(rate.codec) << " " << rate.kbps;
      const double gain = product(before, after, lag) / product(before, before, 0);
      EXPECT_NEAR(gain, 1, 0.15) << static_cast<int>(rate.codec) << " " << rate.kbps;
    }
  }
}

TEST(Lossy, AClickStaysWhereItIs) {
  std::vector<float> before(22050);
  for (size_t at = 2000; at < before.size(); at += 4000) before[at] = 0.9F;
  const Rate rates[] = {{Lossy::kOpus, 128, 1}, {Lossy::kMp3, 160, 1}, {Lossy::kMp3, 48, 1}};
  for (const Rate& rate : rates) {
    const auto after = through_codec(before, kRate_hz, rate.codec, rate.kbps);
    EXPECT_LE(std::abs(lag_of(before, after)), 1) << static_cast<int>(rate.codec);
  }
}

TEST(Lossy, ALowerRateLosesMore) {
  const auto before = test_signal(44100, kRate_hz);
  for (const Lossy codec : {Lossy::kOpus, Lossy::kMp3}) {
    double last = 0;
    for (const double kbps : {96.0, 32.0, 16.0, 8.0}) {
      const auto after = through_codec(before, kRate_hz, codec, kbps);
      double error = 0;
      for (size_t i = 0; i < before.size(); ++i) error += std::pow(after[i] - before[i], 2);
      EXPECT_GT(error, last) << static_cast<int>(codec) << " " << kbps;
      last = error;
    }
  }
}

TEST(Lossy, GivesTheSameTwiceAndKeepsSilence) {
  const auto before = test_signal(5000, kRate_hz);
  for (const Lossy codec : {Lossy::kOpus, Lossy::kMp3}) {
    EXPECT_EQ(through_codec(before, kRate_hz, codec, 16),
              through_codec(before, kRate_hz, codec, 16));
    EXPECT_TRUE(through_codec({}, kRate_hz, codec, 16).empty());
    for (const size_t size : {size_t{1}, size_t{100}, size_t{3000}}) {
      const auto silence = through_codec(std::vector<float>(size), kRate_hz, codec, 16);
      ASSERT_EQ(silence.size(), size);
      for (const float sample : silence) EXPECT_NEAR(sample, 0, 1e-4);
    }
  }
}

}  // namespace
}  // namespace hum::audio
