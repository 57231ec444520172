#include "pipeline/mix_down.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audio/loudness.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "pipeline/generate.h"

namespace hum::pipeline {
namespace {

audio::AudioBuffer sound(double hz, double seconds, double amplitude) {
  return {44100, 1, audio::tone(hz, seconds, 44100, amplitude)};
}

double lufs(const audio::AudioBuffer& buffer) {
  return audio::integrated_lufs(buffer.samples, buffer.rate_hz, buffer.channels);
}

TEST(Parts, StandAtTheirLevelsAndAddUpToTheMix) {
  std::vector<Part> parts = {{"lead", sound(500, 3, 0.9), 0},
                             {"bass", sound(100, 4, 0.01), -6},
                             {"drums", {44100, 1, std::vector<float>(1000)}, -6}};
  const auto mix = mix_down(parts);
  EXPECT_NEAR(lufs(mix), -16, 0.3);
  EXPECT_NEAR(lufs(parts[1].sound) - lufs(parts[0].sound), -6, 0.3);
  for (const Part& part : parts) ASSERT_EQ(part.sound.samples.size(), mix.samples.size());
  for (size_t i = 0; i < mix.samples.size(); i += 97) {
    float sum = 0;
    for (const Part& part : parts) sum += part.sound.samples[i];
    EXPECT_NEAR(sum, mix.samples[i], 1e-5);
  }
}

TEST(Parts, PeaksOfAPartHoldTheMixDown) {
  // A few clicks: quiet on average, so their level would lift them over full scale.
  auto clicks = sound(100, 3, 0);
  for (size_t i = 1000; i < clicks.samples.size(); i += 40000) clicks.samples[i] = 1;
  std::vector<Part> parts = {{"clicks", clicks, 0}, {"lead", sound(500, 3, 0.5), -20}};
  const auto mix = mix_down(parts);
  EXPECT_LE(audio::true_peak_dbtp(mix.samples, 44100), -0.9);
  for (const Part& part : parts) {
    EXPECT_LE(audio::true_peak_dbtp(part.sound.samples, 44100), -0.9);
  }
}

TEST(Parts, ALimiterMakesRoomForLoudnessUnderDrums) {
  // Beats 20 dB above a steady lead.
  auto beats = sound(60, 8, 0);
  for (size_t i = 0; i < beats.samples.size(); ++i) {
    const auto since = static_cast<double>(i % 22050) / 44100;
    beats.samples[i] = static_cast<float>(std::exp(-since * 60) * std::sin(700 * since));
  }
  std::vector<Part> parts = {{"lead", sound(500, 8, 0.1), 0}, {"drums", beats, -1}};
  const auto mix = mix_down(parts);
  EXPECT_NEAR(lufs(mix), -16, 0.3);
  EXPECT_LE(audio::true_peak_dbtp(mix.samples, 44100), -1);
  for (size_t i = 0; i < mix.samples.size(); i += 97) {
    EXPECT_NEAR(parts[0].sound.samples[i] + parts[1].sound.samples[i], mix.samples[i], 1e-5);
  }
}

TEST(Backing, CarriesTheMelodyAtTheGainThatIsAskedFor) {
  const audio::AudioBuffer backing{
      48000, 2, audio::from_mono(audio::tone(100, 5, 48000, 0.02), 48000, 2).samples};
  const auto melody = sound(1000, 3, 0.3);
  const auto with = with_backing(melody, backing, 6);
  EXPECT_EQ(with.rate_hz, 44100);
  EXPECT_EQ(with.channels, 2);
  EXPECT_NEAR(with.seconds(), 5, 1e-3);
  EXPECT_NEAR(lufs(with), -16, 0.1);
  EXPECT_LE(audio::true_peak_dbtp(with.samples, 44100, 2), -0.9);
  // From 3 s on only the backing sounds, so the power of each part is known.
  auto part = [&](double from_s, double to_s) {
    const auto first = static_cast<int64_t>(from_s * 44100) * 2;
    const auto last = static_cast<int64_t>(to_s * 44100) * 2;
    return audio::AudioBuffer{
        44100, 2, {with.samples.begin() + first, with.samples.begin() + last}};
  };
  const double alone = std::pow(10, lufs(part(3.5, 4.9)) / 10);
  const double both = std::pow(10, lufs(part(0.5, 2.5)) / 10);
  EXPECT_NEAR(10 * std::log10((both - alone) / alone), 6, 0.5);
  EXPECT_THROW(with_backing(melody, {44100, 1, std::vector<float>(44100)}, 0), Error);
}

}  // namespace
}  // namespace hum::pipeline
