#include "pipeline/quantise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "pipeline/score.h"
#include "pipeline/test_tunes.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr Tempo kTempo{.bpm = 120, .first_beat_s = 0.3, .confidence = 1};  // a beat is 0.5 s

TEST(Quantise, FullStrengthPutsOnsetsOnLines) {
  const auto notes = sing(tunes()[2], 120, 0.3, 0.03);
  const auto moved = quantise(notes, kTempo, {.grid_beats = 0.5});
  ASSERT_EQ(moved.size(), notes.size());
  for (size_t i = 0; i < moved.size(); ++i) {
    EXPECT_NEAR(std::remainder(moved[i].start_s - 0.3, 0.25), 0, 1e-9);
    EXPECT_NEAR(moved[i].start_s, notes[i].start_s, 0.125);
    EXPECT_EQ(moved[i].pitch, notes[i].pitch);
  }
}

TEST(Quantise, StrengthGoesPartOfTheWay) {
  const std::vector<Note> notes = {{0.34, 0.6, 60, 0.6, {}}, {0.9, 1.3, 62, 0.6, {0, 1}}};
  const auto none = quantise(notes, kTempo, {.strength = 0});
  const auto half = quantise(notes, kTempo, {.strength = 0.5});
  EXPECT_EQ(none, notes);
  EXPECT_NEAR(half[0].start_s, 0.32, 1e-9);
  EXPECT_NEAR(half[1].start_s, (0.9 + 0.925) / 2, 1e-9);
  EXPECT_EQ(half[1].bends, notes[1].bends);
}

TEST(Quantise, SwingDelaysEverySecondLine) {
  std::vector<Note> notes;
  for (int i = 0; i < 8; ++i) {
    notes.push_back({0.3 + 0.25 * i, 0.3 + 0.25 * i + 0.2, 60 + i, 0.6, {}});
  }
  const auto moved = quantise(notes, kTempo, {.grid_beats = 0.5, .swing = 2.0 / 3});
  for (int i = 0; i < 8; ++i) {
    const double line_s = 0.3 + 0.5 * (i / 2) + (i % 2 == 0 ? 0 : 0.5 * 2 / 3);
    EXPECT_NEAR(moved[static_cast<size_t>(i)].start_s, line_s, 1e-9) << i;
  }
}

TEST(Quantise, LegatoStaysLegatoAndPausesEndOnALine) {
  const std::vector<Note> notes = {
      {0.31, 0.76, 60, 0.6, {}}, {0.78, 1.27, 62, 0.6, {}}, {2.33, 2.6, 64, 0.6, {}}};
  const auto moved = quantise(notes, kTempo, {.grid_beats = 0.5});
  EXPECT_NEAR(moved[1].start_s - moved[0].end_s, 0.02, 1e-9);
  EXPECT_NEAR(moved[1].end_s, 1.3, 1e-9);
}

TEST(Quantise, NotesFasterThanTheGridKeepTheirOrderAndAreAllThere) {
  std::vector<Note> notes;
  for (int i = 0; i < 40; ++i) {
    notes.push_back({0.3 + 0.11 * i, 0.3 + 0.11 * (i + 1), 60 + i % 7, 0.6, {}});
  }
  const auto moved = quantise(notes, kTempo, {.grid_beats = 1});
  ASSERT_EQ(moved.size(), notes.size());
  for (size_t i = 0; i < moved.size(); ++i) {
    EXPECT_GT(moved[i].end_s, moved[i].start_s);
    if (i == 0) continue;
    EXPECT_GT(moved[i].start_s, moved[i - 1].start_s);
    EXPECT_LE(moved[i - 1].end_s, moved[i].start_s + 0.05);
  }
}

TEST(Quantise, ChordsStayTogether) {
  const std::vector<Note> notes = {
      {0.33, 0.8, 60, 0.6, {}}, {0.34, 0.8, 64, 0.6, {}}, {0.35, 0.8, 67, 0.6, {}}};
  const auto moved = quantise(notes, kTempo, {});
  EXPECT_NEAR(moved[2].start_s - moved[0].start_s, 0.02, 1e-9);
  EXPECT_NEAR(moved[0].start_s, 0.3, 1e-9);
}

TEST(Quantise, NothingStartsBeforeZero) {
  const std::vector<Note> notes = {{0.01, 0.2, 60, 0.6, {}}};
  const auto moved = quantise(notes, {.bpm = 120, .first_beat_s = 0.12}, {.grid_beats = 1});
  EXPECT_GE(moved[0].start_s, 0);
}

TEST(Quantise, AnotherTempoStretchesEverything) {
  const auto notes = sing(tunes()[0], 120, 0.3);
  const auto slow = at_tempo(notes, kTempo, 60);
  for (size_t i = 0; i < notes.size(); ++i) {
    EXPECT_NEAR(slow[i].start_s - 0.3, 2 * (notes[i].start_s - 0.3), 1e-9);
    EXPECT_NEAR(slow[i].end_s - slow[i].start_s, 2 * (notes[i].end_s - notes[i].start_s), 1e-9);
  }
}

TEST(CorrectPitch, ShrinksBendsByItsStrength) {
  std::vector<Note> notes = {{0, 1, 60, 0.6, {0, 2, 6, -4}}};
  correct_pitch(notes, 0);
  EXPECT_EQ(notes[0].bends, (std::vector<int>{0, 2, 6, -4}));
  correct_pitch(notes, 0.5);
  EXPECT_EQ(notes[0].bends, (std::vector<int>{0, 1, 3, -2}));
  correct_pitch(notes, 1);
  EXPECT_TRUE(notes[0].bends.empty());
}

TEST(Score, DefaultsChangeNoNote) {
  auto notes = sing(tunes()[0], 103, 0.4, 0.02);
  notes[3].bends = {0, 1, 2};
  const Score score = make_score(notes, {});
  EXPECT_EQ(score.notes, notes);
  ASSERT_TRUE(score.tempo.has_value());
  EXPECT_NEAR(score.tempo_bpm(), 103, 1);
  EXPECT_EQ(key_name(score.heard_key->key), "D:major");
  EXPECT_FALSE(score.key.has_value());
  EXPECT_TRUE(score.warnings.empty());
}

TEST(Score, KeepsOnlyBendsThatTheInstrumentCanPlay) {
  auto notes = sing(tunes()[0], 103);
  notes[3].bends = {0, 1, 2};
  EXPECT_EQ(make_score(notes, {}, {.can_bend = true}).notes, notes);
  EXPECT_EQ(make_score(notes, {.correct = "0"}, {.can_bend = false}).notes, notes);
  const Score exact = make_score(notes, {}, {.can_bend = false});
  EXPECT_TRUE(exact.notes[3].bends.empty());
  EXPECT_EQ(exact.correction, 1);
  EXPECT_TRUE(make_score(notes, {.correct = "1"}).notes[3].bends.empty());
}

TEST(Score, ATempoThatIsAskedForIsTheOneThatIsHeard) {
  const auto notes = sing(tunes()[0], 103, 0.4, 0.01);
  const Score score = make_score(notes, {.tempo = "90"});
  EXPECT_EQ(score.tempo_bpm(), 90);
  EXPECT_NEAR(score.stretch, 103.0 / 90, 0.01);
  EXPECT_NEAR(estimate_tempo(score.notes)->bpm, 90, 0.3);
  const Score beside_a_backing = make_score(notes, {.tempo = "104"}, {.stays_in_time = true});
  EXPECT_EQ(beside_a_backing.notes, notes);
  EXPECT_EQ(beside_a_backing.tempo_bpm(), 104);
}

TEST(Score, EveryTempoIsPlayed) {
  for (const Tune& tune : tunes()) {
    const auto notes = sing(tune, 121, 0.4, 0.01);
    for (int bpm = 30; bpm <= 300; bpm += 15) {
      const Score score = make_score(notes, {.tempo = std::to_string(bpm)});
      EXPECT_EQ(score.tempo_bpm(), bpm);
      EXPECT_TRUE(score.warnings.empty());
      const double octaves = std::log2(estimate_tempo(score.notes)->bpm / bpm);
      EXPECT_NEAR(octaves, std::round(octaves), 0.02) << tune.name << " " << bpm;
    }
  }
}

TEST(Score, SnapsToTheTempoItHearsAndSaysWhenThereIsNone) {
  const Score score = make_score(sing(tunes()[0], 103, 0.4, 0.02), {.snap = "1", .grid = Grid::k8});
  for (const Note& note : score.notes) {
    const double step_s = score.tempo->beat_s() / 2;
    EXPECT_NEAR(std::remainder(note.start_s - score.first_beat_s(), step_s), 0, 1e-6);
  }
  const std::vector<Note> two = {{0, 1, 60, 0.6, {}}, {1, 2, 62, 0.6, {}}};
  EXPECT_THROW(make_score(two, {.snap = "1"}), Error);
  EXPECT_EQ(make_score(two, {.tempo = "100"}).warnings.size(), 1U);
  EXPECT_EQ(make_score(two, {}).tempo_bpm(), 120);
  EXPECT_FALSE(make_score(sing(tunes()[0], 103), {.tempo = "off"}).tempo.has_value());
}

TEST(Score, MovesNotesIntoAKey) {
  const auto notes = sing(tunes()[0], 100);
  EXPECT_EQ(make_score(notes, {.key = "auto"}).moved_to_key, 0);
  const Score score = make_score(notes, {.key = "D:minor"});
  EXPECT_GT(score.moved_to_key, 5);
  for (const Note& note : score.notes) EXPECT_TRUE(in_key(*score.key, note.pitch));
}

TEST(Score, RefusesWhatMakesNoSense) {
  for (const ScoreOptions& options : std::vector<ScoreOptions>{{.tempo = "fast"},
                                                               {.tempo = "10"},
                                                               {.tempo = "nan"},
                                                               {.snap = "2"},
                                                               {.snap = "on"},
                                                               {.tempo = "off", .snap = "1"},
                                                               {.swing_percent = 60},
                                                               {.snap = "1", .swing_percent = 90},
                                                               {.key = "X:minor"},
                                                               {.correct = "1.5"}}) {
    EXPECT_THROW(validate(options), Error) << options.tempo << " " << options.snap;
  }
  EXPECT_NO_THROW(validate({.snap = "0.5", .swing_percent = 60}));
}

}  // namespace
}  // namespace hum::pipeline
