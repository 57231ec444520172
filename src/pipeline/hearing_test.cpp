#include "pipeline/hearing.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/synthesis/excitation.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/timing.h"
#include "pipeline/hum_melody.h"
#include "pipeline/tuning.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using testing::ElementsAre;

const std::vector<Note> kTune = {
    {0.2, 0.6, 57, 0.63, {}}, {0.6, 1.0, 60, 0.63, {}}, {1.0, 1.3, 60, 0.63, {}}};

std::vector<float> hum() { return data::render_hum(kTune, 1.6, 1, 3); }

TEST(Hearing, ATranscribersNotesStayAsTheyAre) {
  const std::vector<Note> notes = {{0.24, 0.63, 57, 0.6, {}}, {0.5, 1.35, 60, 0.7, {1, 0}}};
  const HeardVoice voice = as_transcribed([&](std::span<const float>) { return notes; })(hum());
  EXPECT_EQ(voice.notes, notes);
  EXPECT_EQ(voice.heard_by, "basic-pitch");
  EXPECT_EQ(voice.tuning_cents, std::nullopt);
}

TEST(Hearing, HearsARecordingInTuneOnItsClock) {
  // The excitation of one note, 40 cents sharp.
  const std::vector<Note> in_tune_note = {{0.2, 1.8, 60, 0.6, {}}};
  const auto sharp =
      retune(data::render_excitation(in_tune_note, 2 * data::kSampleRate), -40).samples;
  std::vector<float> heard;
  const HearFunction hear = in_tune([&heard](std::span<const float> samples) {
    heard.assign(samples.begin(), samples.end());
    return HeardVoice{.notes = {{.start_s = 0.5, .end_s = 1, .hz = 200}}};
  });
  const HeardVoice voice = hear(sharp);
  const double stretch = std::exp2(40.0 / 1200);
  EXPECT_NEAR(voice.tuning_cents.value(), 40, 3);
  EXPECT_GT(voice.voiced_share.value(), 0.7);
  EXPECT_NEAR(estimate_tuning(heard).offset_cents, 0, 3);
  EXPECT_NEAR(voice.notes[0].start_s, 0.5 / stretch, 1e-3);
  EXPECT_NEAR(voice.notes[0].hz, 200 * stretch, 0.5);
}

TEST(Hearing, GivenNotesAreMovedIntoTheRangeAndOtherwiseKept) {
  const std::vector<Note> given = {{.start_s = 0, .end_s = 1, .pitch = 40, .bends = {0, 3}},
                                   {.start_s = 1, .end_s = 2, .pitch = 43}};
  const HumMelody melody = given_melody(given, {}, PitchRange{60, 80});
  ASSERT_EQ(melody.notes.size(), 2U);
  EXPECT_EQ(melody.octave, 2);
  EXPECT_EQ(melody.notes[0].pitch, 64);
  EXPECT_EQ(melody.notes[0].bends, given[0].bends);
  EXPECT_EQ(melody.notes[0].amplitude, given[0].amplitude);
  EXPECT_EQ(melody.heard_by, "given");
  EXPECT_EQ(given_melody(given, {.transpose = 2}, std::nullopt).notes[1].pitch, 45);
  EXPECT_THROW(given_melody({}, {}, std::nullopt), Error);
}

// One who finds the tuning: 40 cents.
HeardVoice tuned(std::span<const float>) {
  return {.notes = {{.start_s = 0.2,
                     .end_s = 0.6,
                     .pitch = 57,
                     .amplitude = 0.3,
                     .bends = {0, 1},
                     .hz = 225,
                     .confidence = 0.9}},
          .tuning_cents = 40,
          .voiced_share = 0.8,
          .heard_by = "ear"};
}

TEST(Hearing, TheTuningCanStayInTheBends) {
  const HeardVoice voice = with_own_tuning(tuned)({});
  EXPECT_THAT(voice.notes[0].bends, ElementsAre(1, 2));
  EXPECT_EQ(voice.tuning_cents, std::nullopt);
  // Without a tuning they stay.
  EXPECT_EQ(with_own_tuning(with_own_tuning(tuned))({}).notes, voice.notes);
}

TEST(Hearing, AMelodyThatIsTunedIsNotTunedAgain) {
  const auto sharp = retune(hum(), -40).samples;
  std::vector<float> heard;
  const auto melody = read_melody(
      sharp,
      [&heard](std::span<const float> samples) {
        heard.assign(samples.begin(), samples.end());
        return tuned(samples);
      },
      {}, std::nullopt);
  EXPECT_EQ(heard, sharp);
  EXPECT_EQ(melody.tuning_cents, 40);
  EXPECT_EQ(melody.voiced_share, 0.8);
  EXPECT_EQ(melody.heard_by, "ear");
  EXPECT_EQ(melody.confidence, 0.9);  // not the amplitude
  EXPECT_EQ(melody.notes[0].hz, 225);
  EXPECT_TRUE(melody.warnings.empty());
}

}  // namespace
}  // namespace hum::pipeline
