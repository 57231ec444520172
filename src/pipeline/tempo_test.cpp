#include "pipeline/tempo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/test_tunes.h"

namespace hum::pipeline {
namespace {

using audio::Note;

class TempoOfTunes : public testing::TestWithParam<double> {};

TEST_P(TempoOfTunes, IsFoundThoughTheSingerIsNotExact) {
  for (const Tune& tune : tunes()) {
    for (const double jitter_s : {0.0, 0.015, 0.03}) {
      const auto tempo = estimate_tempo(sing(tune, GetParam(), 0.4, jitter_s));
      ASSERT_TRUE(tempo.has_value()) << tune.name << " " << jitter_s;
      EXPECT_NEAR(tempo->bpm / GetParam(), 1, jitter_s == 0 ? 0.002 : 0.012)
          << tune.name << " " << jitter_s;
      EXPECT_NEAR(tempo->first_beat_s, 0.4, 0.02 + jitter_s) << tune.name << " " << jitter_s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bpm, TempoOfTunes, testing::Values(84.0, 97.0, 112.0, 126.0, 138.0));

TEST(Tempo, IsTheSureThingWhenOnsetsLieOnBeats) {
  const auto exact = estimate_tempo(sing(tunes()[1], 100));
  const auto loose = estimate_tempo(sing(tunes()[1], 100, 0.4, 0.03));
  EXPECT_GT(exact->confidence, 0.9);
  EXPECT_LT(loose->confidence, exact->confidence);
}

TEST(Tempo, IsNotHeardInOnsetsAtRandom) {
  int heard = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "random onsets");
    std::vector<Note> notes;
    for (double at_s = 0; at_s < 15;) {
      const double length_s = 0.12 * std::exp(rng.uniform(0, 2.3));
      notes.push_back({at_s, at_s + 0.9 * length_s, 60, 0.6, {}});
      at_s += length_s;
    }
    const auto tempo = estimate_tempo(notes);
    heard += tempo && tempo->confidence > 0.15 ? 1 : 0;
  }
  EXPECT_LE(heard, 3);
}

TEST(Tempo, OfVeryManyNotesIsFoundFromSomeOfThem) {
  std::vector<Note> notes;
  for (int i = 0; i < 40'000; ++i) {  // 8 million pairs within 48 s
    const double at_s = 0.24 * i;
    notes.push_back({at_s, at_s + 0.2, 60, i % 2 == 0 ? 0.9 : 0.4, {}});
  }
  const auto tempo = estimate_tempo(notes);
  ASSERT_TRUE(tempo.has_value());
  EXPECT_NEAR(std::remainder(std::log2(tempo->bpm / 125), 1), 0, 0.001);
}

TEST(Tempo, NeedsFourOnsets) {
  const auto notes = sing(tunes()[1], 100);
  EXPECT_FALSE(estimate_tempo({}).has_value());
  EXPECT_FALSE(estimate_tempo(std::span(notes).first(3)).has_value());
  EXPECT_TRUE(estimate_tempo(std::span(notes).first(8)).has_value());
}

// Sung at 120, requested at other tempi: the result is the singer's pulse, halved or doubled.
TEST(Tempo, NearestPulseIsTheSingersOwn) {
  const auto notes = sing(tunes()[0], 120);
  const Tempo heard = *estimate_tempo(notes);
  EXPECT_NEAR(nearest_pulse(notes, heard, 60).bpm, 60, 0.3);
  EXPECT_NEAR(nearest_pulse(notes, heard, 118).bpm, 120, 0.5);
  EXPECT_NEAR(nearest_pulse(notes, heard, 100).bpm, 120, 0.5);
  EXPECT_NEAR(nearest_pulse(notes, heard, 240).bpm, 240, 1);
}

TEST(Tempo, NearestPulseIsWithinAFactorOfTheRootOfTwoOfEveryTempo) {
  const auto notes = sing(tunes()[1], 121);
  const Tempo heard = *estimate_tempo(notes);
  for (double bpm = 30; bpm <= 300; bpm += 1) {
    const Tempo pulse = nearest_pulse(notes, heard, bpm);
    EXPECT_LE(std::abs(std::log2(pulse.bpm / bpm)), 0.501) << bpm;
    EXPECT_EQ(pulse.confidence, heard.confidence);
  }
}

// Eight notes a bar, all equally long.
std::vector<Note> stream_of_notes(double notes_per_minute, double strong, double weak) {
  std::vector<Note> notes;
  for (int i = 0; i < 32; ++i) {
    const double at_s = i * 60 / notes_per_minute;
    notes.push_back({at_s, at_s + 0.3, 60, i % 2 == 0 ? strong : weak, {}});
  }
  return notes;
}

TEST(Tempo, AccentsDecideBetweenAFastTempoAndItsHalf) {
  EXPECT_NEAR(estimate_tempo(stream_of_notes(161, 0.8, 0.6))->bpm, 80.5, 0.5);
  EXPECT_NEAR(estimate_tempo(stream_of_notes(161, 0.6, 0.6))->bpm, 161, 1);
  // At a walking pace a strong and a weak beat are two beats.
  EXPECT_NEAR(estimate_tempo(stream_of_notes(112, 0.8, 0.6))->bpm, 112, 1);
}

TEST(Tempo, FirstBeatIsNearTheFirstNoteAndNeverBeforeZero) {
  EXPECT_NEAR(find_first_beat(sing(tunes()[1], 100, 1.7), 100), 1.7, 0.001);
  const auto early = find_first_beat(sing(tunes()[1], 100, 0.0, 0.02), 100);
  EXPECT_GE(early, 0);
  EXPECT_NEAR(std::remainder(early, 0.6), 0, 0.02);
  EXPECT_EQ(find_first_beat({}, 100), 0);
}

}  // namespace
}  // namespace hum::pipeline
