#include "pipeline/stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "audio/loudness.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

std::vector<float> streamed(const std::vector<float>& sound, const audio::Note& melody, size_t part,
                            std::vector<size_t>* sizes = nullptr) {
  std::vector<float> result;
  StreamFinisher finisher(std::span(&melody, 1), 44100, [&](std::span<const float> samples) {
    result.insert(result.end(), samples.begin(), samples.end());
  });
  for (size_t at = 0; at < sound.size(); at += part) {
    finisher.push(std::span(sound).subspan(at, std::min(part, sound.size() - at)));
    if (sizes != nullptr) sizes->push_back(result.size());
  }
  finisher.finish();
  return result;
}

constexpr audio::Note kMelody{.start_s = 0, .end_s = 6};

audio::Note later(double by_s) { return {.start_s = by_s, .end_s = by_s + 6}; }

std::vector<float> melody() {
  auto sound = audio::tone(330, 8, data::kSampleRate, 0.05);
  for (size_t i = 6 * data::kSampleRate; i < sound.size(); ++i) {
    const double past_s = static_cast<double>(i) / data::kSampleRate - 6;
    sound[i] *= static_cast<float>(std::exp(-8 * past_s));
  }
  return sound;
}

TEST(StreamFinisher, DeliversAsManySamplesAsTheWholeWouldHaveAndAsLoud) {
  const auto sound = melody();
  const auto whole = finish(sound, 6, {});
  const auto result = streamed(sound, kMelody, 22050);
  EXPECT_EQ(result.size(), whole.samples.size());
  EXPECT_NEAR(audio::integrated_lufs(result, 44100), -16, 0.5);
  EXPECT_NEAR(result.back(), 0, 1e-3);
}

TEST(StreamFinisher, KeepsTwoChannelsWithOneGain) {
  const auto sound = melody();
  std::vector<float> both, result;
  for (const float sample : sound) both.insert(both.end(), {sample, 0.5F * sample});
  StreamFinisher finisher(
      std::span(&kMelody, 1), 44100,
      [&](std::span<const float> samples) {
        result.insert(result.end(), samples.begin(), samples.end());
      },
      2);
  for (size_t at = 0; at < both.size(); at += 44100) {
    finisher.push(std::span(both).subspan(at, std::min<size_t>(44100, both.size() - at)));
  }
  finisher.finish();
  EXPECT_EQ(result.size(), finish(both, 6, {.sound_channels = 2}).samples.size());
  EXPECT_NEAR(audio::integrated_lufs(result, 44100, 2), -16, 0.5);
  for (size_t i = 0; i < result.size(); i += 2) {
    ASSERT_NEAR(result[i + 1], 0.5F * result[i], 1e-5) << i;
  }
}

TEST(StreamFinisher, HandsOutWhatItHas) {
  std::vector<size_t> sizes;
  const auto result = streamed(melody(), kMelody, 44100, &sizes);
  // Up to a few milliseconds of delay in resampler and limiter.
  EXPECT_NEAR(static_cast<double>(sizes[0]) / 44100, 2, 0.05);
  EXPECT_NEAR(static_cast<double>(sizes[1]) / 44100, 4, 0.05);
  EXPECT_NEAR(static_cast<double>(sizes[3]) / 44100, 6, 0.05);  // the release is kept back
  EXPECT_GT(result.size(), sizes[3]);
}

TEST(StreamFinisher, ALoudSecondHalfIsLimited) {
  auto sound = melody();
  for (size_t i = 3 * data::kSampleRate; i < sound.size(); ++i) sound[i] *= 30;
  for (const float sample : streamed(sound, kMelody, 22050)) {
    EXPECT_LE(std::fabs(sample), std::pow(10, -2.0 / 20) + 1e-6);
  }
}

TEST(StreamFinisher, SilenceBeforeTheMelodySetsNoLevel) {
  auto sound = melody();
  sound.insert(sound.begin(), 2 * data::kSampleRate, 0.0F);
  const auto result = streamed(sound, later(2), 22050);
  EXPECT_NEAR(audio::integrated_lufs(result, 44100), -16, 0.5);
}

// The noise of a room is louder than EBU R128's gate.
TEST(StreamFinisher, NoiseBeforeTheMelodySetsNoLevel) {
  auto sound = melody();
  const auto noise = audio::tone(900, 5, data::kSampleRate, 0.001);
  sound.insert(sound.begin(), noise.begin(), noise.end());
  const auto result = streamed(sound, later(5), 4 * data::kSampleRate);
  EXPECT_NEAR(audio::integrated_lufs(result, 44100), -16, 0.5);
  for (int i = 0; i < 4 * 44100; ++i) ASSERT_LT(std::fabs(result[static_cast<size_t>(i)]), 0.01);
}

TEST(StreamFinisher, RefusesSamplesThatAreNotFinite) {
  auto sound = melody();
  sound[70'000] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(streamed(sound, kMelody, 22050), Error);
}

// Silence fills most of the part in which the melody begins.
TEST(StreamFinisher, AMelodyThatBeginsLateInAPartIsNotTooLoud) {
  auto sound = melody();
  sound.insert(sound.begin(), static_cast<size_t>(1.9 * data::kSampleRate), 0.0F);
  const auto result = streamed(sound, later(1.9), 2 * data::kSampleRate);
  EXPECT_NEAR(audio::integrated_lufs(result, 44100), -16, 0.5);
}

// The part contains only the start of the first note's slow attack.
TEST(StreamFinisher, AnAttackAtTheEndOfAPartSetsNoLevel) {
  auto sound = melody();
  const auto attack = static_cast<size_t>(0.2 * data::kSampleRate);
  for (size_t i = 0; i < attack; ++i) sound[i] *= static_cast<float>(i) / attack;
  sound.insert(sound.begin(), static_cast<size_t>(1.94 * data::kSampleRate), 0.0F);
  const auto result = streamed(sound, later(1.94), 2 * data::kSampleRate);
  EXPECT_NEAR(audio::integrated_lufs(result, 44100), -16, 0.5);
}

}  // namespace
}  // namespace hum::pipeline
