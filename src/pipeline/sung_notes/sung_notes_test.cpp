#include "pipeline/sung_notes/sung_notes.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/synthesis/excitation.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/timing.h"
#include "pipeline/sung_notes/note_onsets.h"
#include "pipeline/sung_notes/note_pieces.h"
#include "pipeline/sung_notes/voiced_notes.h"

namespace hum::pipeline {
namespace {

using audio::Note;

// A voice: the excitation of `notes`, its level by `level(time)`.
template <typename Level>
std::vector<float> voice(const std::vector<Note>& notes, double seconds, Level level) {
  auto samples = data::render_excitation(notes, data::sample_of(seconds));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] *= static_cast<float>(level(static_cast<double>(i) / data::kSampleRate));
  }
  return samples;
}

double ramp(double from_s, double to_s, double at_s) {
  return std::clamp((at_s - from_s) / (to_s - from_s), 0.0, 1.0);
}

Transcription only(std::vector<Note> notes) { return {.notes = std::move(notes), .salience = {}}; }

std::vector<int> pitches(const std::vector<Note>& notes) {
  std::vector<int> result;
  for (const Note& note : notes) result.push_back(note.pitch);
  return result;
}

TEST(VoiceTrack, FollowsLevelAndPitch) {
  const auto track = track_voice(voice({{0, 1, 57, 0.6, {}}}, 1, [](double t) { return t; }));
  EXPECT_NEAR(track.level[track.level.index(0.8)] / track.level[track.level.index(0.4)], 2, 0.1);
  EXPECT_NEAR(track.median_pitch(0.3, 0.9).value(), 57, 0.05);
  EXPECT_TRUE(track.is_voiced(track.pitch.index(0.5)));
  std::vector<float> noise(data::kSampleRate);
  data::render_noise(1, 0, noise);
  EXPECT_EQ(track_voice(noise).median_pitch(0.1, 0.9), std::nullopt);
}

class LateOnset : public testing::TestWithParam<double> {};

TEST_P(LateOnset, MovesToWhereTheLevelBeginsToRise) {
  const double attack_s = GetParam();
  const auto samples =
      voice({{0.2, 0.5, 57, 0.6, {}}, {0.7, 1.3, 60, 0.6, {}}}, 1.5, [&](double t) {
        return t < 0.6 ? 1 - ramp(0.45, 0.5, t)
                       : ramp(0.7, 0.7 + attack_s, t) * (1 - ramp(1.19, 1.2, t));
      });
  const auto notes =
      sung_notes(samples, only({{0.2, 0.5, 57, 0.6, {}}, {0.735, 1.2, 60, 0.6, {0, 1, 0}}}));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NEAR(notes[1].start_s, 0.7, 0.008);
  EXPECT_NEAR(notes[1].end_s, 1.2, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Attacks, LateOnset, testing::Values(0.005, 0.02, 0.06));

TEST(SungNotes, AGlideBeginsTheNextNoteWhereThePitchLeaves) {
  // The level shows no onset.
  const auto samples =
      data::render_hum(std::vector<Note>{{0, 0.6, 57, 0.63, {}}, {0.6, 1.2, 60, 0.63, {}}}, 1.2, 1,
                       3, {.exact_onsets = true, .tuning_cents = 0, .legato = true});
  for (const double heard_s : {0.57, 0.66}) {
    const auto notes =
        sung_notes(samples, only({{0, heard_s, 57, 0.6, {}}, {heard_s, 1.2, 60, 0.6, {}}}));
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_NEAR(notes[1].start_s, 0.6, 0.012) << heard_s;
    EXPECT_DOUBLE_EQ(notes[0].end_s, notes[1].start_s);
  }
}

TEST(SungNotes, ANoteThatDipsWasSungTwice) {
  auto dip = [](double depth) {
    return [depth](double t) { return 1 - depth * (1 - std::min(1.0, std::fabs(t - 0.6) / 0.04)); };
  };
  const std::vector<Note> sung = {{0, 1.2, 57, 0.6, {}}};
  const auto twice = sung_notes(voice(sung, 1.2, dip(0.7)), only(sung));
  ASSERT_THAT(pitches(twice), testing::ElementsAre(57, 57));
  EXPECT_NEAR(twice[1].start_s, 0.6, 0.008);
  EXPECT_EQ(sung_notes(voice(sung, 1.2, dip(0.2)), only(sung)).size(), 1U);
}

TEST(SungNotes, NeighboursOfOnePitchWithoutADipAreOne) {
  const std::vector<Note> sung = {{0, 1.2, 57, 0.6, {}}};
  const std::vector<Note> heard = {{0, 0.6, 57, 0.6, {}}, {0.6, 1.2, 57, 0.6, {}}};
  const auto track = track_voice(voice(sung, 1.2, [](double) { return 1; }));
  EXPECT_THAT(pitches(join_unbroken(heard, track)), testing::ElementsAre(57));
  const auto broken = track_voice(
      voice(sung, 1.2, [](double t) { return std::min(1.0, std::fabs(t - 0.6) / 0.03); }));
  EXPECT_THAT(pitches(join_unbroken(heard, broken)), testing::ElementsAre(57, 57));
}

TEST(SungNotes, WhatTheTranscriberMissedIsAddedWhereAVoiceIs) {
  // The singer breathes after it.
  const auto samples =
      data::render_hum(std::vector<Note>{{0.1, 0.5, 57, 0.63, {}}, {0.5, 0.9, 61, 0.63, {}}}, 2, 1,
                       3, {.exact_onsets = true, .tuning_cents = 0});
  const auto notes = sung_notes(samples, only({{0.1, 0.5, 57, 0.6, {}}}));
  ASSERT_THAT(pitches(notes), testing::ElementsAre(57, 61));
  EXPECT_NEAR(notes[1].start_s, 0.5, 0.02);
  EXPECT_NEAR(notes[1].end_s, 0.9, 0.05);
  EXPECT_NEAR(audio::pitch_at(notes[1], 0.7), 61, 0.2);
}

TEST(SungNotes, WhatIsAddedEndsBeforeTheNextNote) {
  const std::vector<Note> sung = {{0.1, 0.6, 57, 0.6, {}}, {0.6, 1.0, 61, 0.6, {}}};
  const auto track = track_voice(data::render_hum(sung, 1.2, 1, 3, {.exact_onsets = true}));
  for (const double next_s : {0.6, 0.602, 0.604}) {
    const auto notes = with_voiced({{next_s, 1.0, 61, 0.6, {}}}, track);
    ASSERT_GE(notes.size(), 2U);
    EXPECT_EQ(notes[0].pitch, 57);
    EXPECT_LE(notes[0].end_s, next_s);
  }
}

TEST(SungNotes, ANoteHeardAnOctaveOffGoesWhereTheVoiceIs) {
  const std::vector<Note> sung = {{0.1, 0.6, 50, 0.6, {}}};
  const auto samples = voice(sung, 1, [](double t) { return t < 0.6 ? 1 : 0; });
  EXPECT_THAT(pitches(sung_notes(samples, only({{0.1, 0.6, 62, 0.6, {}}}))),
              testing::ElementsAre(50));
  // A difference of one semitone stays as transcribed.
  EXPECT_THAT(pitches(sung_notes(samples, only({{0.1, 0.6, 51, 0.6, {}}}))),
              testing::ElementsAre(51));
}

TEST(SungNotes, WhereThereIsNoVoiceTheTranscriberIsRight) {
  std::vector<float> noise(2 * data::kSampleRate);
  data::render_noise(1, 0, noise);
  const std::vector<Note> heard = {{0.2, 0.6, 57, 0.6, {}}, {0.9, 1.4, 60, 0.5, {}}};
  const auto notes = sung_notes(noise, only(heard));
  ASSERT_THAT(pitches(notes), testing::ElementsAre(57, 60));
  EXPECT_NEAR(notes[1].start_s, 0.9, 0.12);
}

TEST(NotePieces, ANoteOverOtherTimesKeepsItsPitchThere) {
  const Note note{1, 2, 60, 0.5, {0, 3, 6, 3, 0}};
  const Note longer = note_between(note, 0.5, 1.5);
  EXPECT_DOUBLE_EQ(longer.start_s, 0.5);
  EXPECT_DOUBLE_EQ(longer.end_s, 1.5);
  EXPECT_NEAR(audio::pitch_at(longer, 0.7), 60, 0.01);
  EXPECT_NEAR(audio::pitch_at(longer, 1.25), 61, 0.17);
}

}  // namespace
}  // namespace hum::pipeline
