// The sampler plays what it was given, at the pitch, time and loudness that it is asked for.
#include "eval/harness/note_samples.h"

#include <gmock/gmock.h>

#include <cmath>

#include "audio/loudness.h"
#include "audio/pitch.h"
#include "audio/test_signal.h"
#include "data/synthesis/timing.h"

namespace hum::eval {
namespace {

using audio::Note;
using data::kSampleRate;

double rms(std::span<const float> samples) {
  double sum = 0;
  for (const float x : samples) sum += static_cast<double>(x) * x;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

std::span<const float> part(const std::vector<float>& sound, double from_s, double to_s) {
  return std::span(sound).subspan(static_cast<size_t>(data::sample_of(from_s)),
                                  static_cast<size_t>(data::sample_of(to_s - from_s)));
}

// Two notes of a second, an octave apart.
std::vector<NoteSample> bank() {
  return {{57, 0.5, audio::tone(220, 1, kSampleRate, 0.1)},
          {69, 0.5, audio::tone(440, 1, kSampleRate, 0.3)}};
}

TEST(NoteSamples, AreCutFromOnsetToOnset) {
  const auto sound = audio::tone(440, 2, kSampleRate);
  const std::vector<Note> notes = {{.start_s = 0.5, .end_s = 0.8, .pitch = 69, .amplitude = 0.4},
                                   {.start_s = 1.0, .end_s = 1.2, .pitch = 70, .amplitude = 0.6},
                                   {.start_s = 3.0, .end_s = 3.2, .pitch = 71, .amplitude = 0.6}};
  const auto cut = cut_notes(sound, notes);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].pitch, 69);
  EXPECT_EQ(cut[1].amplitude, 0.6);
  EXPECT_EQ(std::ssize(cut[0].samples), data::sample_of(0.5));
  EXPECT_EQ(std::ssize(cut[1].samples), data::sample_of(1.0));
  EXPECT_EQ(cut[0].samples[0], sound[static_cast<size_t>(data::sample_of(0.5))]);
}

TEST(Sampler, PlaysTheNearestSampleAtThePitchOfTheNote) {
  for (const int pitch : {55, 57, 62, 64, 69, 72}) {
    const Note note{.start_s = 0.2, .end_s = 0.9, .pitch = pitch, .amplitude = 0.5};
    const auto sound = play_samples(bank(), std::span(&note, 1), data::sample_of(1));
    const auto track = audio::yin(part(sound, 0.3, 0.7), kSampleRate);
    EXPECT_NEAR(track.hz[track.hz.size() / 2] / audio::midi_to_hz(pitch), 1, 2e-3) << pitch;
    EXPECT_NEAR(rms(part(sound, 0.3, 0.7)), (pitch < 63 ? 0.1 : 0.3) / std::sqrt(2), 2e-3);
    EXPECT_EQ(rms(part(sound, 0, 0.19)), 0);
  }
}

TEST(Sampler, FadesOutAfterTheNoteAndEndsWithTheSample) {
  const Note brief{.start_s = 0, .end_s = 0.4, .pitch = 57, .amplitude = 0.5};
  EXPECT_EQ(rms(part(play_samples(bank(), std::span(&brief, 1), data::sample_of(1)), 0.5, 1)), 0);
  const Note held{.start_s = 0, .end_s = 2, .pitch = 57, .amplitude = 0.5};
  const auto sound = play_samples(bank(), std::span(&held, 1), data::sample_of(2));
  EXPECT_GT(rms(part(sound, 0.8, 1)), 0.05);
  EXPECT_EQ(rms(part(sound, 1.01, 1.99)), 0);
}

TEST(Sampler, IsAsLoudAsTheNote) {
  const Note soft{.start_s = 0, .end_s = 1, .pitch = 57, .amplitude = 0.5 - 24.0 / 127};
  const auto sound = play_samples(bank(), std::span(&soft, 1), data::sample_of(1));
  EXPECT_NEAR(rms(part(sound, 0.1, 0.9)), 0.1 / std::sqrt(2) * audio::from_db(-6), 1e-3);
}

TEST(Sampler, IsSilentWithoutSamples) {
  const Note note{.start_s = 0, .end_s = 1, .pitch = 57, .amplitude = 0.5};
  EXPECT_EQ(play_samples({}, std::span(&note, 1), 100), std::vector<float>(100));
}

}  // namespace
}  // namespace hum::eval
