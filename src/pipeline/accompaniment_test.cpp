#include "pipeline/accompaniment.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "pipeline/test_tunes.h"

namespace hum::pipeline {
namespace {

using audio::Note;
using testing::ElementsAre;

constexpr Tempo kTempo{.bpm = 120, .first_beat_s = 0.5, .confidence = 1};

std::vector<std::string> names(const std::vector<Chord>& chords, const Key& key = {}) {
  std::vector<std::string> result;
  for (const Chord& chord : chords) result.push_back(chord_name(chord, key));
  return result;
}

TEST(Chords, OfAKeyAreItsTriads) {
  EXPECT_THAT(names(triads_of(parse_key("C:major"))),
              ElementsAre("C", "Dm", "Em", "F", "G", "Am", "Bdim"));
  EXPECT_THAT(names(triads_of(parse_key("A:minor"))),
              ElementsAre("Am", "Bdim", "C", "Dm", "E", "F", "G"));
  EXPECT_THAT(names(triads_of(parse_key("D:dorian"))),
              ElementsAre("Dm", "Em", "F", "G", "Am", "Bdim", "C"));
}

TEST(Chords, AreSpelledInTheirKey) {
  const Key flat = parse_key("Db:major"), sharp = parse_key("C#:minor");
  EXPECT_THAT(names(triads_of(flat), flat),
              ElementsAre("Db", "Ebm", "Fm", "Gb", "Ab", "Bbm", "Cdim"));
  EXPECT_THAT(names(triads_of(sharp), sharp),
              ElementsAre("C#m", "D#dim", "E", "F#m", "G#", "A", "B"));
}

// The harmony that every song book prints under it.
TEST(Chords, UnderTwinkleAreThoseOfTheSongBook) {
  const auto notes = sing(tunes()[1], 120, 0.5);
  const auto chords = harmonise(notes, parse_key("C:major"), kTempo, 4, 6);
  EXPECT_EQ(names(chords)[0], "C");
  EXPECT_THAT(names(chords)[1], testing::AnyOf("F", "C", "Am"));  // A A G
  EXPECT_THAT(names(chords)[2], testing::AnyOf("F", "C", "Dm", "Am"));
  EXPECT_THAT(names(chords)[3], testing::AnyOf("G", "C", "Dm"));  // D D C
}

TEST(Chords, FollowArpeggiosThatLeaveNoDoubt) {
  const std::vector<std::vector<int>> bars = {{60, 64, 67, 64}, {65, 69, 72, 69}, {67, 71, 74, 71},
                                              {57, 60, 64, 60}, {62, 65, 69, 65}, {67, 71, 74, 71},
                                              {60, 64, 67, 60}};
  std::vector<Note> notes;
  double at_s = 0.5;
  for (const auto& bar : bars) {
    for (const int pitch : bar) {
      notes.push_back({at_s, at_s + 0.45, pitch, 0.6, {}});
      at_s += 0.5;
    }
  }
  EXPECT_THAT(names(harmonise(notes, parse_key("C:major"), kTempo, 4, 7)),
              ElementsAre("C", "F", "G", "Am", "Dm", "G", "C"));
}

TEST(Chords, OfSilentBarsGoOn) {
  EXPECT_EQ(names(harmonise({}, parse_key("G:major"), kTempo, 4, 3)).front(), "G");
  EXPECT_EQ(names(harmonise({}, parse_key("G:major"), kTempo, 4, 3)).back(), "G");
}

class Styles : public testing::TestWithParam<std::tuple<Style, int64_t>> {};

TEST_P(Styles, StayInTheirBarsRegistersAndChords) {
  const auto [style, beats] = GetParam();
  const auto all = triads_of(parse_key("Eb:major"));
  const std::vector<Chord> chords = {all[0], all[3], all[4], all[5], all[1], all[4], all[0]};
  const auto band = accompany(chords, kTempo, beats, style);
  const double bar_s = 0.5 * static_cast<double>(beats);
  for (const auto* part : {&band.bass, &band.chords, &band.drums}) {
    ASSERT_FALSE(part->empty());
    std::set<int64_t> bars;
    for (const Note& note : *part) {
      const auto bar = static_cast<int64_t>((note.start_s - 0.5) / bar_s + 1e-6);
      bars.insert(bar);
      EXPECT_LE(note.end_s, 0.5 + static_cast<double>(bar + 1) * bar_s + 1e-9);
      EXPECT_GT(note.amplitude, 0);
      EXPECT_LE(note.amplitude, 1);
    }
    EXPECT_EQ(bars.size(), chords.size());
    EXPECT_EQ(*bars.rbegin(), 6);
  }
  for (const Note& note : band.bass) {
    EXPECT_GE(note.pitch, 28);
    EXPECT_LE(note.pitch, 47);
  }
  for (const Note& note : band.chords) {
    const auto tones = chords[static_cast<size_t>((note.start_s - 0.5) / bar_s + 1e-6)].tones();
    EXPECT_NE(std::ranges::find(tones, note.pitch % 12), tones.end());
    EXPECT_GE(note.pitch, 52);
    EXPECT_LE(note.pitch, 74);
  }
  // The bass plays the root at the start of each bar.
  for (size_t bar = 0; bar < chords.size(); ++bar) {
    const double head_s = 0.5 + static_cast<double>(bar) * bar_s;
    const auto first = std::ranges::find_if(
        band.bass, [&](const Note& note) { return std::abs(note.start_s - head_s) < 1e-6; });
    ASSERT_NE(first, band.bass.end());
    EXPECT_EQ(first->pitch % 12, chords[bar].root);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Styles,
                         testing::Combine(testing::Values(Style::kPop, Style::kBallad,
                                                          Style::kSwing),
                                          testing::Values(3, 4)));

TEST(Accompaniment, ChordsMoveLittleFromBarToBar) {
  const auto all = triads_of(parse_key("C:major"));
  const auto band =
      accompany(std::vector<Chord>{all[0], all[3], all[4], all[0]}, kTempo, 4, Style::kPop);
  std::vector<int> lowest;
  for (int bar = 0; bar < 4; ++bar) {
    int low = 127;
    for (const Note& note : band.chords) {
      if (std::abs(note.start_s - 0.5 - 2.0 * bar) < 1e-6) low = std::min(low, note.pitch);
    }
    lowest.push_back(low);
  }
  for (size_t i = 1; i < lowest.size(); ++i) EXPECT_LE(std::abs(lowest[i] - lowest[i - 1]), 5);
}

}  // namespace
}  // namespace hum::pipeline
