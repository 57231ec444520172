#include "pipeline/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "audio/test_signal.h"
#include "base/rng.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/timing.h"
#include "pipeline/hum_melody.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using ::testing::HasSubstr;

// A scale, `cents` sharp: the excitation, resampled.
std::vector<float> scale(double cents) {
  std::vector<Note> notes;
  double at_s = 0.2;
  for (const int pitch : {55, 57, 59, 60, 62, 64}) {
    notes.push_back({at_s, at_s + 0.35, pitch, 0.6, {}});
    at_s += 0.4;
  }
  const auto sound = data::render_excitation(notes, 3 * data::kSampleRate);
  return retune(sound, -cents).samples;
}

class TuningOffset : public testing::TestWithParam<double> {};

TEST_P(TuningOffset, IsFoundWithinThreeCents) {
  const auto estimate = estimate_tuning(scale(GetParam()));
  EXPECT_NEAR(estimate.offset_cents, GetParam(), 3);
  EXPECT_GT(estimate.agreement, 0.9);
  EXPECT_GT(estimate.voiced_share, 0.7);
}

INSTANTIATE_TEST_SUITE_P(Cents, TuningOffset, testing::Values(-45.0, -20.0, 0.0, 12.0, 40.0));

TEST(Tuning, RetunedSoundIsInTune) {
  const auto sharp = scale(40);
  const Retuned retuned = retune(sharp, 40);
  EXPECT_NEAR(estimate_tuning(retuned.samples).offset_cents, 0, 3);
  EXPECT_NEAR(static_cast<double>(retuned.samples.size()) / static_cast<double>(sharp.size()),
              retuned.stretch, 1e-4);
}

TEST(Tuning, NoiseHasNone) {
  std::vector<float> noise(3 * data::kSampleRate);
  data::render_noise(1, 0, noise);
  EXPECT_LT(estimate_tuning(noise).voiced_share, 0.05);
}

// A transcriber that returns given notes and records its input.
struct Listener {
  std::vector<Note> notes;
  std::vector<float> heard;
  TranscribeFunction function() {
    return [this](std::span<const float> samples) {
      heard.assign(samples.begin(), samples.end());
      return notes;
    };
  }
};

HumMelody read_melody(std::span<const float> samples, TranscribeFunction transcribe,
                      const HumOptions& options, std::optional<PitchRange> range) {
  const HearFunction hear = as_transcribed(std::move(transcribe));
  return pipeline::read_melody(samples, options.tuning == Tuning::kAuto ? in_tune(hear) : hear,
                               options, range);
}

TEST(HumMelody, PutsASharpSingerInTuneOnTheRecordingsClock) {
  const auto sharp = scale(40);
  const double stretch = std::exp2(40.0 / 1200);
  Listener listener{{{1.0 * stretch, 1.35 * stretch, 60, 0.6, {}}}, {}};
  const auto melody = read_melody(sharp, listener.function(), {}, std::nullopt);
  EXPECT_NEAR(melody.tuning_cents, 40, 3);
  EXPECT_NEAR(estimate_tuning(listener.heard).offset_cents, 0, 3);
  EXPECT_NEAR(melody.notes[0].start_s, 1.0, 0.003);
  EXPECT_NEAR(melody.notes[0].end_s, 1.35, 0.003);
}

TEST(HumMelody, LeavesTheSingerAloneWhenToldSoOrNearlyInTune) {
  Listener listener{{{0.2, 0.55, 55, 0.6, {}}}, {}};
  const auto sharp = scale(40);
  EXPECT_EQ(read_melody(sharp, listener.function(), {.tuning = Tuning::kOff}, {}).tuning_cents, 0);
  EXPECT_EQ(listener.heard, sharp);
  EXPECT_EQ(read_melody(scale(10), listener.function(), {}, {}).tuning_cents, 0);
}

TEST(HumMelody, MovesByOctavesIntoTheRangeAndByTheTransposition) {
  const auto hum = scale(0);
  Listener listener{{{0.2, 0.55, 45, 0.6, {}}, {0.6, 0.95, 47, 0.6, {}}}, {}};
  const PitchRange violin{55, 96};
  const auto automatic = read_melody(hum, listener.function(), {}, violin);
  EXPECT_EQ(automatic.octave, 1);
  EXPECT_EQ(automatic.notes[0].pitch, 57);
  EXPECT_TRUE(automatic.warnings.empty());

  const auto fixed =
      read_melody(hum, listener.function(), {.octave = "-1", .transpose = 3}, violin);
  EXPECT_EQ(fixed.octave, -1);
  EXPECT_EQ(fixed.notes[0].pitch, 36);
  ASSERT_EQ(fixed.warnings.size(), 1U);
  EXPECT_EQ(fixed.warnings[0], "2 of 2 notes lie outside the instrument's range");

  const auto both = read_melody(hum, listener.function(), {.transpose = 12}, violin);
  EXPECT_EQ(both.octave, 1);
  EXPECT_EQ(both.notes[0].pitch, 69);

  EXPECT_EQ(read_melody(hum, listener.function(), {}, std::nullopt).octave, 0);
}

TEST(HumMelody, GivesNotesTheLoudnessTheyWereSungWith) {
  auto hum = scale(0);
  for (size_t i = data::kSampleRate; i < hum.size(); ++i) hum[i] *= 0.5F;  // 6 dB down
  Listener listener{{{0.2, 0.55, 55, 0.9, {}}, {0.6, 0.95, 57, 0.5, {}}, {1.4, 1.75, 60, 0.9, {}}},
                    {}};
  const auto notes = read_melody(hum, listener.function(), {}, std::nullopt).notes;
  EXPECT_NEAR(notes[0].amplitude, notes[1].amplitude, 0.02);
  EXPECT_NEAR((notes[1].amplitude - notes[2].amplitude) * 127, 24, 4);
}

TEST(HumMelody, WarnsWhenTheNotesAreUncertain) {
  Listener listener{{{0.2, 0.55, 55, 0.3, {}}}, {}};
  const auto melody = read_melody(scale(0), listener.function(), {}, std::nullopt);
  ASSERT_EQ(melody.warnings.size(), 1U);
  EXPECT_THAT(melody.warnings[0], HasSubstr("uncertain (the confidence of its notes is 0.30)"));
}

TEST(HumMelody, WarnsWhenLittleOfTheSoundHasAPitch) {
  const HearFunction hear = [](std::span<const float>) {
    return HeardVoice{.notes = {{0.2, 0.55, 55, 0.9, {}}}, .voiced_share = 0.2};
  };
  const auto warnings = read_melody(scale(0), hear, {}, std::nullopt).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("uncertain (only 20 % of the sound has a clear pitch)"));
  EXPECT_TRUE(read_melody(scale(0), hear, {.polyphonic = true}, std::nullopt).warnings.empty());
}

TEST(HumMelody, RefusesAFewNotesHeardIntoNoiseAndNoNotesAtAll) {
  Listener listener{{{0.2, 0.4, 55, 0.3, {}}}, {}};
  std::vector<float> noise(3 * data::kSampleRate);
  data::render_noise(1, 0, noise);
  EXPECT_THROW(read_melody(noise, listener.function(), {}, {}), Error);
  listener.notes[0].end_s = 1;  // over a quarter of the time: not just noise
  EXPECT_EQ(read_melody(noise, listener.function(), {}, {}).notes.size(), 1U);
  Listener deaf;
  EXPECT_THROW(read_melody(noise, deaf.function(), {}, {}), Error);
  EXPECT_THROW(read_melody(scale(0), deaf.function(), {}, {}), Error);
}

TEST(HumMelody, RefusesOctavesThatAreNone) {
  for (const char* text : {"up", "9", "1.5", "", "+-1"}) {
    EXPECT_THROW(validate({.octave = text}), Error) << text;
  }
  EXPECT_NO_THROW(validate({.octave = "+1"}));
  EXPECT_THROW(validate({.transpose = 97}), Error);
}

}  // namespace
}  // namespace hum::pipeline
