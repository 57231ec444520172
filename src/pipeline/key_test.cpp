#include "pipeline/key.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "pipeline/test_tunes.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using data::Mode;

TEST(Key, NamesAreReadAndWritten) {
  EXPECT_EQ(parse_key("C:minor"), (Key{0, Mode::kAeolian}));
  EXPECT_EQ(parse_key("f#:Major"), (Key{6, Mode::kIonian}));
  EXPECT_EQ(parse_key("Bb:dorian"), (Key{10, Mode::kDorian}));
  EXPECT_EQ(parse_key("Cb"), (Key{11, Mode::kIonian}));
  EXPECT_EQ(parse_key("Cm"), (Key{0, Mode::kAeolian}));
  EXPECT_EQ(parse_key("F#m"), (Key{6, Mode::kAeolian}));
  EXPECT_EQ(key_name({10, Mode::kAeolian}), "Bb:minor");
  for (int tonic = 0; tonic < 12; ++tonic) {
    for (int mode = 0; mode < data::kModes; ++mode) {
      const Key key{tonic, static_cast<Mode>(mode)};
      EXPECT_EQ(parse_key(key_name(key)), key);
    }
  }
  for (const char* text : {"", "H:minor", "C:sad", "C minor", ":minor", "Cx"}) {
    EXPECT_THROW(parse_key(text), Error) << text;
  }
}

TEST(Key, TonicsAreSpelledWithTheFewestAccidentals) {
  const std::pair<Key, const char*> expected[] = {
      {{1, Mode::kIonian}, "Db:major"},  {{1, Mode::kAeolian}, "C#:minor"},
      {{3, Mode::kIonian}, "Eb:major"},  {{3, Mode::kAeolian}, "Eb:minor"},
      {{6, Mode::kIonian}, "F#:major"},  {{6, Mode::kAeolian}, "F#:minor"},
      {{8, Mode::kIonian}, "Ab:major"},  {{8, Mode::kAeolian}, "G#:minor"},
      {{10, Mode::kIonian}, "Bb:major"}, {{10, Mode::kAeolian}, "Bb:minor"},
      {{11, Mode::kIonian}, "B:major"},  {{1, Mode::kDorian}, "C#:dorian"}};
  for (const auto& [key, name] : expected) EXPECT_EQ(key_name(key), name);
}

TEST(Key, PitchesAreSpelledInTheKey) {
  const std::pair<const char*, std::vector<const char*>> expected[] = {
      {"C:major", {"C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"}},
      {"E:major", {"C", "C#", "D", "D#", "E", "E#", "F#", "G", "G#", "A", "A#", "B"}},
      {"C:minor", {"C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"}},
      {"E:minor", {"C", "C#", "D", "D#", "E", "E#", "F#", "G", "G#", "A", "A#", "B"}}};
  for (const auto& [key, names] : expected) {
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(pitch_name(parse_key(key), 60 + static_cast<int>(i)), names[i]) << key;
    }
  }
}

TEST(Key, IsNotEstimatedFromFewerThanFiveNotes) {
  const auto notes = sing(tunes()[1], 100);
  EXPECT_FALSE(estimate_key(std::span(notes).first(4)));
  EXPECT_TRUE(estimate_key(std::span(notes).first(5)));
}

TEST(Key, SignaturesAreThoseOfTheCircleOfFifths) {
  const std::pair<const char*, audio::KeySignature> expected[] = {
      {"C:major", {0, false}},  {"A:minor", {0, true}},       {"Eb:major", {-3, false}},
      {"C:minor", {-3, true}},  {"F#:major", {6, false}},     {"Db:major", {-5, false}},
      {"D:dorian", {0, false}}, {"G:mixolydian", {0, false}}, {"E:lydian", {5, false}},
      {"F#:minor", {3, true}}};
  for (const auto& [name, signature] : expected) {
    EXPECT_EQ(key_signature(parse_key(name)), signature) << name;
  }
}

TEST(Key, OfATuneIsThatOfItsScore) {
  for (const Tune& tune : tunes()) {
    const auto heard = estimate_key(sing(tune, 100));
    ASSERT_TRUE(heard);
    EXPECT_EQ(key_name(heard->key), tune.key);
    EXPECT_GT(heard->correlation, 0.6);
    EXPECT_GE(heard->margin, 0);
  }
}

TEST(Key, MovesWithTheTune) {
  for (int shift = 1; shift < 12; ++shift) {
    auto notes = sing(tunes()[1], 100);
    for (Note& note : notes) note.pitch += shift;
    EXPECT_EQ(estimate_key(notes)->key.tonic, shift);
  }
}

// tools/golden/music_theory.py
TEST(Key, CorrelationsAreThoseOfMusic21) {
  const Json golden = read_json(source_folder() / "tests/data/pipeline/keys.json");
  ASSERT_GE(golden["melodies"].size(), 8U);
  for (const Json& melody : golden["melodies"]) {
    std::vector<Note> notes;
    double at_s = 0;
    for (const Json& note : melody["notes"]) {
      const double length_s = note[1];
      notes.push_back({at_s, at_s + length_s, note[0], 0.6, {}});
      at_s += length_s;
    }
    const auto heard = estimate_key(notes);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->key, parse_key(melody["key"].get<std::string>()));
    EXPECT_NEAR(heard->correlation, melody["correlation"], 1e-4) << melody["key"];
  }
}

TEST(Key, SnappingMovesOnlyNotesOutsideToTheNearestInside) {
  std::vector<Note> notes;
  for (int pitch = 60; pitch < 72; ++pitch) notes.push_back({0, 1, pitch, 0.6, {}});
  EXPECT_EQ(snap_to_key(notes, parse_key("C:major")), 5);
  const int expected[] = {60, 60, 62, 62, 64, 65, 65, 67, 67, 69, 69, 71};
  for (size_t i = 0; i < notes.size(); ++i) EXPECT_EQ(notes[i].pitch, expected[i]);
  EXPECT_EQ(snap_to_key(notes, parse_key("C:major")), 0);
}

TEST(Key, SnappingGoesWhereTheSingerLeansAndKeepsTheBends) {
  std::vector<Note> notes = {{0, 1, 61, 0.6, {1, 1, 2}}, {0, 1, 61, 0.6, {-1, 0, -1}}};
  snap_to_key(notes, parse_key("C:major"));
  EXPECT_EQ(notes[0].pitch, 62);
  EXPECT_EQ(notes[0].bends, (std::vector<int>{1, 1, 2}));
  EXPECT_EQ(notes[1].pitch, 60);
}

TEST(Key, SnappingWorksInEveryMode) {
  for (int mode = 0; mode < data::kModes; ++mode) {
    const Key key{7, static_cast<Mode>(mode)};
    std::vector<Note> notes;
    for (int pitch = 40; pitch < 80; ++pitch) notes.push_back({0, 1, pitch, 0.6, {1}});
    snap_to_key(notes, key);
    for (size_t i = 0; i < notes.size(); ++i) {
      EXPECT_TRUE(in_key(key, notes[i].pitch));
      EXPECT_LE(std::abs(notes[i].pitch - 40 - static_cast<int>(i)), 1);
    }
  }
}

}  // namespace
}  // namespace hum::pipeline
