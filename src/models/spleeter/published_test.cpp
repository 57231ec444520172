// The published weights on a voice among chords. Skipped where `make fetch-spleeter` has not put
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "audio/io.h"
#include "audio/resample.h"
#include "base/folders.h"
#include "models/spleeter/model.h"
#include "models/spleeter/separator.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::spleeter {
namespace {

using audio::AudioBuffer;

#define HUM_NEEDS_SPLEETER() \
  if (!has_weights()) GTEST_SKIP() << "make fetch-spleeter fetches the weights"

double sdr_db(const AudioBuffer& truth, const AudioBuffer& heard) {
  double signal = 0, error = 0;
  for (size_t i = 0; i < truth.samples.size(); ++i) {
    const double s = truth.samples[i], e = s - heard.samples[i];
    signal += s * s;
    error += e * e;
  }
  return 10 * std::log10(signal / error);
}

// A person who sings, and chords of decaying strings, louder on the right.
struct Song {
  AudioBuffer voice, chords, mixture;
};

AudioBuffer strings(int64_t frames) {
  constexpr double kChords[][3] = {{220, 277.2, 329.6}, {196, 246.9, 293.7}, {174.6, 220, 261.6}};
  AudioBuffer sound{kSampleRateHz, kChannels, std::vector<float>(static_cast<size_t>(2 * frames))};
  for (int64_t i = 0; i < frames; ++i) {
    const double t = static_cast<double>(i) / kSampleRateHz, beat_s = std::fmod(t, 0.5);
    double sum = 0;
    for (const double hz : kChords[static_cast<int64_t>(t / 2) % 3]) {
      for (int k = 1; k <= 12; ++k) {
        sum += std::sin(2 * std::numbers::pi * k * hz * t) / k * std::exp(-beat_s * (2 + k));
      }
    }
    sound.samples[static_cast<size_t>(2 * i)] = static_cast<float>(0.06 * sum);
    sound.samples[static_cast<size_t>(2 * i + 1)] = static_cast<float>(0.09 * sum);
  }
  return sound;
}

Song made_song() {
  const AudioBuffer sung = audio::read_mono(source_folder() / "examples/vocadito_10.wav");
  Song song;
  song.voice = audio::widened(
      audio::from_mono(audio::resample(sung.samples, sung.rate_hz, kSampleRateHz), kSampleRateHz),
      kChannels);
  song.chords = strings(song.voice.frames());
  song.mixture = song.voice;
  for (size_t i = 0; i < song.mixture.samples.size(); ++i) {
    song.mixture.samples[i] += song.chords.samples[i];
  }
  return song;
}

TEST(SpleeterWeights, AreThePublishedOnes) {
  HUM_NEEDS_SPLEETER();
  const auto weights = runtime::read_weights(default_weights_path());
  int64_t numbers = 0;
  for (const auto& [name, tensor] : weights.tensors) numbers += tensor.elements();
  EXPECT_EQ(numbers, 19645450);
  EXPECT_EQ(weights.tensors.size(), Spleeter(SpleeterConfig{}).parameters().all().size());
}

TEST(SpleeterWeights, FindTheVoiceAmongChords) {
  HUM_NEEDS_SPLEETER();
  const Separator separator(runtime::test_session());
  EXPECT_EQ(separator.stems(), (std::vector<std::string>{"vocals", "accompaniment"}));
  const Song song = made_song();
  const auto stems = separator.separate(song.mixture);
  EXPECT_GT(sdr_db(song.voice, stems[0]), sdr_db(song.voice, song.mixture) + 6);
  EXPECT_GT(sdr_db(song.chords, stems[1]), sdr_db(song.chords, song.mixture) + 3);
}

}  // namespace
}  // namespace hum::models::spleeter
