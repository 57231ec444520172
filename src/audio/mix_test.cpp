#include "audio/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/limiter.h"
#include "audio/resample.h"
#include "audio/test_signal.h"
#include "base/error.h"

namespace hum::audio {
namespace {

TEST(Mix, AddsChannelsAndGoesOnToTheLongerEnd) {
  const AudioBuffer mono{8000, 1, {1, 2, 3}}, stereo{8000, 2, {10, 20, 30, 40}};
  EXPECT_EQ(mix(mono, stereo).samples, (std::vector<float>{11, 21, 32, 42, 3, 3}));
  EXPECT_EQ(mix(stereo, mono).samples, mix(mono, stereo).samples);
  EXPECT_EQ(mix(mono, mono).samples, (std::vector<float>{2, 4, 6}));
  EXPECT_THROW(mix(mono, {16000, 1, {1}}), Error);
  EXPECT_THROW(mix(stereo, {8000, 3, {1, 2, 3}}), Error);
}

TEST(Mix, GainIsInDecibels) {
  AudioBuffer buffer{8000, 1, {1, -0.5F}};
  apply_gain(buffer, -20);
  EXPECT_NEAR(buffer.samples[0], 0.1, 1e-6);
  EXPECT_NEAR(buffer.samples[1], -0.05, 1e-6);
}

std::vector<float> limited(const std::vector<float>& sound, size_t part) {
  Limiter limiter(22050);
  std::vector<float> result;
  for (size_t at = 0; at < sound.size(); at += part) {
    const auto some = limiter.push(std::span(sound).subspan(at, std::min(part, sound.size() - at)));
    result.insert(result.end(), some.begin(), some.end());
  }
  const auto rest = limiter.finish();
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

TEST(Limiter, KeepsEveryPeakBelowTheCeilingHoweverItIsFed) {
  auto sound = test_signal(20000, 22050);
  for (size_t i = 0; i < sound.size(); ++i) sound[i] *= i / 5000 % 2 == 0 ? 0.5F : 6.0F;
  const auto whole = limited(sound, sound.size());
  const double ceiling = std::pow(10, -2.0 / 20);
  ASSERT_EQ(whole.size(), sound.size());
  for (const float sample : whole) EXPECT_LE(std::fabs(sample), ceiling + 1e-6);
  EXPECT_GT(std::fabs(*std::ranges::max_element(whole)), 0.9 * ceiling);
  EXPECT_EQ(limited(sound, 777), whole);
  EXPECT_EQ(limited(sound, 7), whole);
}

TEST(Limiter, LeavesQuietSoundAlone) {
  const auto sound = test_signal(5000, 22050);
  const auto result = limited(sound, 100);
  ASSERT_EQ(result.size(), sound.size());
  for (size_t i = 0; i < sound.size(); ++i) EXPECT_NEAR(result[i], sound[i], 1e-6);
  EXPECT_EQ(limited({0.1F, 0.2F}, 1), (std::vector<float>{0.1F, 0.2F}));
  EXPECT_TRUE(limited({}, 1).empty());
}

// The gain changes no faster than the look-ahead allows: no clicks.
TEST(Limiter, TurnsDownSmoothlyBeforeAPeak) {
  std::vector<float> sound(4000, 0.5F);
  sound[2000] = 5;
  const auto result = limited(sound, 4000);
  for (size_t i = 1; i + 1 < 4000; ++i) {
    if (i >= 1999 && i <= 2002) continue;
    EXPECT_LT(std::fabs(result[i] - result[i - 1]), 0.01) << i;
  }
  EXPECT_NEAR(result[1000], 0.5, 1e-6);
}

TEST(Limiter, TurnsAllChannelsDownTogether) {
  std::vector<float> sound;
  for (int i = 0; i < 4000; ++i) {
    const float left = i == 2000 ? 5.0F : 0.5F;
    sound.insert(sound.end(), {left, 0.25F});
  }
  Limiter limiter(22050, 2);
  auto result = limiter.push(std::span(sound).first(2468));
  for (const auto& part : {limiter.push(std::span(sound).subspan(2468)), limiter.finish()}) {
    result.insert(result.end(), part.begin(), part.end());
  }
  ASSERT_EQ(result.size(), sound.size());
  for (size_t i = 0; i < 4000; ++i) {
    if (i == 2000) continue;
    EXPECT_NEAR(result[2 * i], 2 * result[2 * i + 1], 1e-6) << i;
  }
  EXPECT_LT(result[2 * 2000 + 1], 0.05);
  EXPECT_NEAR(result[1], 0.25, 1e-6);
}

TEST(StreamResampler, KeepsInterleavedChannelsApart) {
  const auto sound = test_signal(20000, 22050);
  std::vector<float> both;
  for (const float sample : sound) both.insert(both.end(), {sample, 0.5F * sample});
  StreamResampler stream(22050, 44100, 2);
  std::vector<float> result;
  for (size_t at = 0; at < both.size(); at += 3000) {
    const auto some =
        stream.push(std::span(both).subspan(at, std::min<size_t>(3000, both.size() - at)));
    result.insert(result.end(), some.begin(), some.end());
  }
  const auto rest = stream.finish();
  result.insert(result.end(), rest.begin(), rest.end());
  const auto whole = resample(sound, 22050, 44100);
  ASSERT_EQ(result.size(), 2 * whole.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_NEAR(result[2 * i], whole[i], 1e-5) << i;
    ASSERT_NEAR(result[2 * i + 1], 0.5F * whole[i], 1e-5) << i;
  }
}

TEST(StreamResampler, GivesWhatResamplingTheWholeGives) {
  const auto sound = test_signal(30011, 22050);
  for (const int to_hz : {22050, 44100, 48000, 16000}) {
    const auto whole = resample(sound, 22050, to_hz);
    for (const size_t part : {1000UL, 4410UL, 94123UL}) {
      StreamResampler stream(22050, to_hz);
      std::vector<float> result;
      for (size_t at = 0; at < sound.size(); at += part) {
        const auto some =
            stream.push(std::span(sound).subspan(at, std::min(part, sound.size() - at)));
        result.insert(result.end(), some.begin(), some.end());
      }
      const auto rest = stream.finish();
      result.insert(result.end(), rest.begin(), rest.end());
      ASSERT_EQ(result.size(), whole.size()) << to_hz;
      for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(result[i], whole[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace hum::audio
