#include "pipeline/key.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
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
    EXPECT_EQ(key_name(heard.key), tune.key);
    EXPECT_GT(heard.correlation, 0.6);
    EXPECT_GE(heard.margin, 0);
  }
}

TEST(Key, MovesWithTheTune) {
  for (int shift = 1; shift < 12; ++shift) {
    auto notes = sing(tunes()[1], 100);
    for (Note& note : notes) note.pitch += shift;
    EXPECT_EQ(estimate_key(notes).key.tonic, shift);
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
    EXPECT_EQ(key_name(heard.key), melody["key"]);
    EXPECT_NEAR(heard.correlation, melody["correlation"], 1e-4) << melody["key"];
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
