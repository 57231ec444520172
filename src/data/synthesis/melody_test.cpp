#include "data/synthesis/melody.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/synthesis/level.h"

namespace hum::data {
namespace {

TEST(Melody, DependsOnSeedAndIndexAlone) {
  const Preset& violin = find_preset("violin");
  const auto a = make_melody(1, 5, violin);
  EXPECT_EQ(a.notes, make_melody(1, 5, violin).notes);
  EXPECT_NE(a.notes, make_melody(1, 6, violin).notes);
  EXPECT_NE(a.notes, make_melody(2, 5, violin).notes);
}

TEST(Melody, StaysInTheRangeOfEveryPreset) {
  for (const Preset& preset : presets()) {
    for (uint64_t i = 0; i < 20; ++i) {
      const auto melody = make_melody(3, i, preset);
      ASSERT_GE(melody.notes.size(), 2U) << preset.name;
      for (const auto& note : melody.notes) {
        EXPECT_GE(note.pitch, preset.low) << preset.name;
        EXPECT_LE(note.pitch, preset.high) << preset.name;
        EXPECT_GE(note.start_s, 0);
        EXPECT_LE(note.end_s, 6 + 1e-9);
        EXPECT_GE(note.end_s - note.start_s, 0.08);
        EXPECT_GE(note.amplitude, kVelocityLow / 127 - 1e-9);
        EXPECT_LE(note.amplitude, kVelocityHigh / 127 + 1e-9);
      }
      if (!preset.polyphonic) {
        EXPECT_FALSE(melody.chords);
      }
    }
  }
}

TEST(Melody, UsesTheNotesOfItsModeOnly) {
  for (uint64_t i = 0; i < 100; ++i) {
    const auto melody = make_melody(4, i, find_preset("piano"));
    std::set<int> scale;
    for (int degree = 0; degree < 7; ++degree) {
      scale.insert((melody.tonic + mode_semitone(melody.mode, degree)) % 12);
    }
    for (const auto& note : melody.notes) EXPECT_TRUE(scale.contains(note.pitch % 12)) << i;
  }
}

TEST(Melody, KnowsTheSevenModes) {
  auto steps = [](Mode mode) {
    std::vector<int> result;
    result.reserve(7);
    for (int degree = 0; degree < 7; ++degree) result.push_back(mode_semitone(mode, degree));
    return result;
  };
  EXPECT_EQ(steps(Mode::kIonian), (std::vector{0, 2, 4, 5, 7, 9, 11}));
  EXPECT_EQ(steps(Mode::kDorian), (std::vector{0, 2, 3, 5, 7, 9, 10}));
  EXPECT_EQ(steps(Mode::kAeolian), (std::vector{0, 2, 3, 5, 7, 8, 10}));
  EXPECT_EQ(steps(Mode::kLocrian), (std::vector{0, 1, 3, 5, 6, 8, 10}));
  EXPECT_EQ(mode_name(Mode::kAeolian), "aeolian");
}

TEST(Melody, CoversModesTempiRestsRepeatsLeapsAndArticulations) {
  std::set<Mode> modes;
  int rests = 0, repeats = 0, leaps = 0, touching = 0, detached = 0, expressive = 0, bent = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const auto melody = make_melody(5, i, find_preset("flute"));
    modes.insert(melody.mode);
    EXPECT_GE(melody.tempo_bpm, 70);
    EXPECT_LE(melody.tempo_bpm, 150);
    expressive += melody.expressive ? 1 : 0;
    for (size_t k = 1; k < melody.notes.size(); ++k) {
      const auto& before = melody.notes[k - 1];
      const auto& note = melody.notes[k];
      const double gap = note.start_s - before.end_s;
      EXPECT_GE(gap, -1e-9) << "a melody without chords has one voice";
      touching += gap < 0.01 ? 1 : 0;
      detached += gap > 0.05 && gap < 0.3 ? 1 : 0;
      rests += gap > 0.3 ? 1 : 0;
      repeats += note.pitch == before.pitch ? 1 : 0;
      leaps += std::abs(note.pitch - before.pitch) >= 5 ? 1 : 0;
    }
    for (const auto& note : melody.notes) {
      if (note.bends.empty()) continue;
      ++bent;
      EXPECT_TRUE(melody.expressive);
      EXPECT_NEAR(static_cast<double>(note.bends.size()),
                  (note.end_s - note.start_s) * 22050 / 256 + 1, 2);
      for (const int bend : note.bends) EXPECT_LE(std::abs(bend), 12);
    }
  }
  EXPECT_EQ(modes.size(), 7U);
  EXPECT_NEAR(expressive, 100, 25);
  for (const int count : {rests, repeats, leaps, touching, detached, bent}) EXPECT_GT(count, 100);
}

TEST(Melody, HasChordsOnPolyphonicPresets) {
  int with_chords = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const auto melody = make_melody(6, i, find_preset("piano"));
    bool together = false;
    for (size_t k = 1; k < melody.notes.size(); ++k) {
      together |= melody.notes[k].start_s == melody.notes[k - 1].start_s;
    }
    EXPECT_TRUE(!together || melody.chords);
    with_chords += together ? 1 : 0;
  }
  EXPECT_GT(with_chords, 15);
  EXPECT_LT(with_chords, 45);
}

TEST(Melody, CentresItsVelocities) {
  for (uint64_t i = 0; i < 20; ++i) {
    auto melody = make_melody(7, i, find_preset("cello"));
    std::vector<double> velocities;
    velocities.reserve(melody.notes.size());
    for (const auto& note : melody.notes) velocities.push_back(127 * note.amplitude);
    std::ranges::sort(velocities);
    EXPECT_NEAR(velocities[velocities.size() / 2], 80, 1e-6);
  }
}

}  // namespace
}  // namespace hum::data
