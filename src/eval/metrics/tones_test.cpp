// Measures of single tones, on tones whose harmonics and decay are known.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "audio/test_signal.h"
#include "base/rng.h"
#include "eval/metrics/harmonic_levels.h"
#include "eval/metrics/level_fall.h"
#include "eval/metrics/testing_impl.h"
#include "eval/metrics/timbre.h"

namespace hum::eval {
namespace {

using audio::tone;
using testing::kRateHz;

// 1 s of harmonics with these amplitudes; `stretch` moves harmonic k to k sqrt(1 + stretch k^2), as
// a stiff string does.
std::vector<float> harmonics(double hz, std::span<const double> amplitudes, double stretch = 0) {
  std::vector<float> sound(kRateHz);
  for (size_t i = 0; i < amplitudes.size(); ++i) {
    const double k = static_cast<double>(i + 1);
    const auto one = tone(hz * k * std::sqrt(1 + stretch * k * k), 1, kRateHz, amplitudes[i]);
    for (size_t t = 0; t < one.size(); ++t) sound[t] += one[t];
  }
  return sound;
}

// A tone that falls by `db_per_s`.
std::vector<float> fading(double db_per_s, double seconds) {
  auto sound = tone(330, seconds, kRateHz);
  for (size_t i = 0; i < sound.size(); ++i) {
    const double time_s = static_cast<double>(i) / kRateHz;
    sound[i] *= static_cast<float>(std::pow(10, -db_per_s * time_s / 20));
  }
  return sound;
}

void expect_levels(const HarmonicLevels& levels, std::span<const double> amplitudes,
                   double within_db) {
  double sum = 0;
  for (const double amplitude : amplitudes) sum += amplitude * amplitude;
  for (size_t k = 0; k < levels.size(); ++k) {
    const bool is_there = k < amplitudes.size() && amplitudes[k] > 0;
    const double expected =
        is_there ? 10 * std::log10(amplitudes[k] * amplitudes[k] / sum) : kHarmonicFloor_db;
    EXPECT_NEAR(levels[k], expected, within_db) << "harmonic " << k + 1;
  }
}

constexpr double kAmplitudes[] = {0.2, 0.1, 0.05, 0, 0.02, 0.01};

TEST(HarmonicLevels, AreThoseOfTheTone) {
  for (const double hz : {110.0, 233.1, 440.0}) {
    const PitchedNote note{0.2, 0.8, hz};
    expect_levels(harmonic_levels(harmonics(hz, kAmplitudes), kRateHz, std::span(&note, 1)),
                  kAmplitudes, 0.2);
  }
}

TEST(HarmonicLevels, FollowStiffStringsAndNotesBetweenSemitones) {
  const PitchedNote note{0.2, 0.8, 220};
  const auto sound = harmonics(220 * std::exp2(0.3 / 12), kAmplitudes, 2e-4);
  expect_levels(harmonic_levels(sound, kRateHz, std::span(&note, 1)), kAmplitudes, 0.2);
}

TEST(HarmonicLevels, EachNoteCountsAlikeWhateverItsLoudness) {
  auto sound = harmonics(220, std::vector<double>{0.2});
  const auto second = harmonics(330, std::vector<double>{0.002, 0.002});
  sound.insert(sound.end(), second.begin(), second.end());
  const PitchedNote notes[] = {{0.2, 0.8, 220}, {1.2, 1.8, 330}};
  const auto levels = harmonic_levels(sound, kRateHz, notes);
  EXPECT_NEAR(levels[0], 10 * std::log10(0.75), 0.1);
  EXPECT_NEAR(levels[1], 10 * std::log10(0.25), 0.1);
}

TEST(HarmonicLevels, AreAtTheFloorWhereNothingSounds) {
  HarmonicLevels floor;
  floor.fill(kHarmonicFloor_db);
  const PitchedNote note{0.2, 0.8, 220};
  EXPECT_EQ(harmonic_levels(std::vector<float>(kRateHz), kRateHz, std::span(&note, 1)), floor);
  EXPECT_EQ(harmonic_levels(tone(220, 1, kRateHz), kRateHz, {}), floor);
  // Harmonic 6 of 2 kHz is above half the rate.
  const PitchedNote high{0.2, 0.8, 2000};
  const auto levels = harmonic_levels(harmonics(2000, kAmplitudes), kRateHz, std::span(&high, 1));
  EXPECT_GT(levels[4], -25);
  EXPECT_EQ(levels[5], kHarmonicFloor_db);
}

TEST(PitchedNotes, ArePlayedAtTheirBendsAndSungAtTheirHz) {
  const std::vector<audio::Note> notes = {
      {.start_s = 0, .end_s = 1, .pitch = 69, .bends = {0, 3, 3}, .hz = 450},
      {.start_s = 1, .end_s = 2, .pitch = 57}};
  EXPECT_DOUBLE_EQ(as_written(notes)[0].hz, 440);
  EXPECT_NEAR(as_played(notes)[0].hz, 440 * std::exp2(1.0 / 12), 1e-9);
  EXPECT_DOUBLE_EQ(as_sung(notes)[0].hz, 450);
  EXPECT_DOUBLE_EQ(as_played(notes)[1].hz, 220);
  EXPECT_EQ(as_played(notes)[1], as_sung(notes)[1]);
}

TEST(LevelFall, IsThatOfTheTone) {
  const PitchedNote note{0, 1, 330};
  for (const double db_per_s : {0.0, 20.0, 40.0, 100.0}) {
    const auto fall_db = level_fall_db(fading(db_per_s, 1), kRateHz, std::span(&note, 1));
    ASSERT_TRUE(fall_db);
    EXPECT_NEAR(*fall_db, kFall_s * db_per_s, 0.1);
  }
}

TEST(LevelFall, BeginsAtTheLoudestMomentOfTheAttack) {
  auto sound = fading(40, 1.5);
  for (size_t i = 0; i < 1800; ++i) sound[i] *= static_cast<float>(i) / 1800;  // 0.08 s
  const PitchedNote note{0, 1, 330};
  EXPECT_NEAR(level_fall_db(sound, kRateHz, std::span(&note, 1)).value(), 12, 0.8);
}

TEST(LevelFall, IsTheMedianOfTheNotesThatAreLongEnough) {
  std::vector<float> sound;
  std::vector<PitchedNote> notes;
  for (const double db_per_s : {10.0, 40.0, 90.0}) {
    const double start_s = static_cast<double>(notes.size());
    const auto one = fading(db_per_s, 1);
    sound.insert(sound.end(), one.begin(), one.end());
    notes.push_back({start_s, start_s + 0.9, 330});
  }
  EXPECT_NEAR(level_fall_db(sound, kRateHz, notes).value(), 12, 0.1);
  notes[1].end_s = notes[1].start_s + 0.25;
  notes[2].end_s = notes[2].start_s + 0.25;
  EXPECT_NEAR(level_fall_db(sound, kRateHz, notes).value(), 3, 0.1);
  EXPECT_FALSE(level_fall_db(sound, kRateHz, std::span(notes).subspan(1)));
  EXPECT_FALSE(level_fall_db(std::vector<float>(kRateHz), kRateHz, notes));
  EXPECT_FALSE(level_fall_db(sound, kRateHz, {}));
}

TEST(Timbre, OfTheAudibleRangeIgnoresWhatLiesBelow) {
  const auto clean = harmonics(220, kAmplitudes);
  auto noisy = clean;
  Rng rng(1, "noise");
  for (float& sample : noisy) sample += static_cast<float>(5e-5 * rng.normal());  // at -70 dB
  const auto moved = [&](double range_db) {
    return timbre_distance(timbre_of(clean, kRateHz, range_db),
                           timbre_of(noisy, kRateHz, range_db));
  };
  EXPECT_LT(moved(kAudibleRange_db), 1);
  EXPECT_GT(moved(kTimbreRange_db), 10 * moved(kAudibleRange_db));
}

}  // namespace
}  // namespace hum::eval
