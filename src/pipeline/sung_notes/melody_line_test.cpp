#include "pipeline/sung_notes/melody_line.h"

#include <gmock/gmock.h>

#include "eval/metrics/note_score.h"
#include "models/basic_pitch/notes.h"
#include "models/basic_pitch/test_data.h"
#include "pipeline/sung_notes/note_pieces.h"

namespace hum::pipeline {
namespace {

using audio::Note;

// 10 ms frames from MIDI 21 on; every note sounds with its amplitude as salience.
Transcription with_salience(std::vector<Note> notes, double seconds) {
  Transcription result;
  const auto frames = static_cast<int64_t>(seconds * 100);
  result.salience.lowest_pitch = 21;
  result.salience.sounding = {frames, 88};
  result.salience.onset = {frames, 88};
  for (int64_t t = 0; t < frames; ++t) {
    const double at_s = 0.01 * static_cast<double>(t);
    result.salience.time_s.push_back(at_s);
    for (const Note& note : notes) {
      if (at_s < note.start_s || at_s >= note.end_s) continue;
      auto& cell = result.salience.sounding(t, note.pitch - 21);
      cell = std::max(cell, static_cast<float>(note.amplitude));
    }
  }
  result.notes = std::move(notes);
  return result;
}

void add_onset(Transcription& transcription, double at_s, int pitch) {
  transcription.salience.onset(static_cast<int64_t>(at_s * 100 + 0.5), pitch - 21) = 0.9F;
}

std::vector<int> pitches(const std::vector<Note>& notes) {
  std::vector<int> result;
  for (const Note& note : notes) result.push_back(note.pitch);
  return result;
}

TEST(MelodyLine, KeepsALineThatIsOneAlready) {
  const std::vector<Note> notes = {
      {0.1, 0.5, 60, 0.7, {}}, {0.5, 0.9, 62, 0.6, {0, 1, 0}}, {1.4, 1.9, 67, 0.5, {}}};
  EXPECT_EQ(melody_line(with_salience(notes, 2)), notes);
}

TEST(MelodyLine, WorksOnNotesAloneAndSortsThem) {
  const std::vector<Note> notes = {{0.5, 0.9, 62, 0.6, {}}, {0.1, 0.5, 60, 0.7, {}}};
  EXPECT_THAT(pitches(melody_line({.notes = notes, .salience = {}})), testing::ElementsAre(60, 62));
}

TEST(MelodyLine, LeavesOutAnOctaveHeardAboveTheNote) {
  const auto line = melody_line(with_salience({{0.1, 0.6, 60, 0.6, {}},
                                               {0.3, 0.6, 72, 0.65, {}},
                                               {0.6, 1.1, 62, 0.6, {}},
                                               {0.7, 1.0, 81, 0.62, {}}},
                                              2));
  EXPECT_THAT(pitches(line), testing::ElementsAre(60, 62));
  EXPECT_DOUBLE_EQ(line[0].end_s, 0.6);
}

TEST(MelodyLine, FollowsALeapOfAnOctaveThatNothingContradicts) {
  const auto line =
      melody_line(with_salience({{0.1, 0.6, 60, 0.6, {}}, {0.6, 1.1, 72, 0.6, {}}}, 2));
  EXPECT_THAT(pitches(line), testing::ElementsAre(60, 72));
}

TEST(MelodyLine, GoesToTheNoteThatStandsOutLonger) {
  const auto line =
      melody_line(with_salience({{0.1, 1.1, 55, 0.35, {}}, {0.1, 1.1, 64, 0.8, {}}}, 2));
  EXPECT_THAT(pitches(line), testing::ElementsAre(64));
}

TEST(MelodyLine, CutsANoteWhereTheNextOneTakesOver) {
  const auto line =
      melody_line(with_salience({{0.1, 1.0, 60, 0.3, {}}, {0.6, 1.4, 64, 0.9, {}}}, 2));
  ASSERT_THAT(pitches(line), testing::ElementsAre(60, 64));
  EXPECT_NEAR(line[0].end_s, 0.6, 0.011);
  EXPECT_DOUBLE_EQ(line[1].start_s, 0.6);
}

TEST(MelodyLine, MergesFragmentsOfOnePitchAcrossShortGapsOnly) {
  const auto merged =
      melody_line(with_salience({{0.1, 0.4, 60, 0.6, {}}, {0.45, 0.8, 60, 0.6, {}}}, 2));
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_DOUBLE_EQ(merged[0].start_s, 0.1);
  EXPECT_DOUBLE_EQ(merged[0].end_s, 0.8);
  EXPECT_EQ(
      melody_line(with_salience({{0.1, 0.4, 60, 0.6, {}}, {0.47, 0.8, 60, 0.6, {}}}, 2)).size(),
      2U);
}

TEST(MelodyLine, KeepsARepeatedNoteThatWasSungAnew) {
  auto transcription = with_salience({{0.1, 0.4, 60, 0.6, {}}, {0.4, 0.8, 60, 0.6, {}}}, 2);
  add_onset(transcription, 0.4, 60);
  EXPECT_EQ(melody_line(transcription).size(), 2U);
}

TEST(MelodyLine, DropsNotesBelow70Ms) {
  const auto line = melody_line(with_salience(
      {{0.1, 0.5, 60, 0.6, {}}, {0.5, 0.565, 66, 0.6, {}}, {0.565, 1, 62, 0.6, {}}}, 2));
  EXPECT_THAT(pitches(line), testing::ElementsAre(60, 62));
}

TEST(MelodyLine, IsEmptyWithoutNotes) { EXPECT_TRUE(melody_line({}).empty()); }

// Real singing is one voice: the line must be the notes that basic-pitch finds in it.
TEST(MelodyLine, KeepsTheNotesOfARealSinger) {
  namespace basic_pitch = models::basic_pitch;
  auto posteriors = basic_pitch::test::stored_posteriors();
  Transcription transcription{basic_pitch::create_notes(posteriors), {}};
  transcription.salience.lowest_pitch = basic_pitch::kLowestPitch;
  for (int64_t t = 0; t < posteriors.frames(); ++t) {
    transcription.salience.time_s.push_back(basic_pitch::frame_to_seconds(t));
  }
  transcription.salience.sounding = posteriors.note;
  transcription.salience.onset = posteriors.onset;
  const auto reference = audio::read_notes(basic_pitch::test::data_folder() / "notes.json");
  ASSERT_EQ(reference.size(), 28U);
  EXPECT_GE(eval::score_notes(reference, melody_line(transcription)).f1, 0.96);
}

TEST(NotePieces, CutNotesKeepTheirPitchOverTime) {
  const Note note{1, 2, 60, 0.5, {0, 3, 6, 3, 0}};  // up two semitones and back
  const Note cut = cut_note(note, 1.25, 1.75);
  EXPECT_DOUBLE_EQ(cut.start_s, 1.25);
  EXPECT_DOUBLE_EQ(cut.end_s, 1.75);
  EXPECT_NEAR(audio::pitch_at(cut, 1.25), 61, 0.01);
  EXPECT_NEAR(audio::pitch_at(cut, 1.5), 62, 0.17);
  EXPECT_NEAR(audio::pitch_at(cut, 1.75), 61, 0.01);
}

TEST(NotePieces, JoinedNotesGlideOverTheGap) {
  const Note first{0, 1, 60, 0.4, {3, 3}}, second{1.1, 2.1, 60, 0.8, {-3, -3}};
  const Note joined = join_notes(first, second);
  EXPECT_DOUBLE_EQ(joined.end_s, 2.1);
  EXPECT_DOUBLE_EQ(joined.amplitude, 0.6);
  EXPECT_NEAR(audio::pitch_at(joined, 0.5), 61, 0.01);
  EXPECT_NEAR(audio::pitch_at(joined, 1.05), 60, 0.4);
  EXPECT_NEAR(audio::pitch_at(joined, 1.6), 59, 0.01);
}

}  // namespace
}  // namespace hum::pipeline
