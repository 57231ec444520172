// Each kind of augmentation changes its own properties and nothing else.
#include "data/synthesis/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "data/synthesis/items.h"
#include "data/synthesis/level.h"
#include "data/synthesis/testing_impl.h"
#include "data/synthesis/window.h"

namespace hum::data {
namespace {

constexpr uint64_t kCount = 12;

ItemOptions options_with(const AugmentOptions& augment) {
  ItemOptions options;
  options.presets = {"violin", "flute", "piano"};
  options.sound_fonts = {"fluidr3"};
  options.defect_share = 0;
  options.reference.same_register = 0;  // it follows a transposed target
  options.augment = augment;
  return options;
}

AugmentOptions only(double AugmentOptions::*kind) {
  AugmentOptions augment = AugmentOptions::none();
  augment.*kind = 1;
  return augment;
}

// Items without augmentation, and with one kind of it in all of them.
class Augment : public ::testing::Test {
 protected:
  void make(double AugmentOptions::*kind) {
    ItemMaker plain(options_with(AugmentOptions::none())), augmented(options_with(only(kind)));
    for (uint64_t i = 0; i < kCount; ++i) {
      before_.push_back(plain.make(i));
      after_.push_back(augmented.make(i));
    }
  }
  std::vector<TrainingItem> before_, after_;
};

std::vector<int> pitches(std::span<const audio::Note> notes) {
  std::vector<int> result;
  for (const auto& note : notes) result.push_back(note.pitch);
  return result;
}

TEST_F(Augment, TransposesMelodyAndTargetWithinTheRange) {
  make(&AugmentOptions::transposition);
  std::set<int> drawn;
  for (size_t i = 0; i < kCount; ++i) {
    const int steps = after_[i].augmentation.transposition;
    drawn.insert(steps);
    EXPECT_EQ(after_[i].melody, shifted(before_[i].melody, 0, steps));
    EXPECT_EQ(after_[i].played, after_[i].melody);
    EXPECT_EQ(after_[i].target == before_[i].target, steps == 0);
    EXPECT_EQ(after_[i].reference, before_[i].reference);
    const Preset& preset = find_preset(i % 3 == 0 ? "violin" : i % 3 == 1 ? "flute" : "piano");
    for (const int pitch : pitches(after_[i].played)) {
      EXPECT_GE(pitch, preset.low);
      EXPECT_LE(pitch, preset.high);
    }
  }
  EXPECT_GT(drawn.size(), 4U);
  EXPECT_LT(*drawn.begin(), 0);
  EXPECT_GT(*drawn.rbegin(), 0);
}

TEST_F(Augment, MovesTheMelodyAloneByAnOctave) {
  make(&AugmentOptions::octave);
  for (size_t i = 0; i < kCount; ++i) {
    const int octave = after_[i].augmentation.octave;
    EXPECT_EQ(std::abs(octave), 12);
    EXPECT_EQ(after_[i].melody, shifted(before_[i].melody, 0, octave));
    EXPECT_EQ(after_[i].played, before_[i].played);
    EXPECT_EQ(after_[i].target, before_[i].target);
    EXPECT_EQ(after_[i].reference, before_[i].reference);
    EXPECT_NE(after_[i].features, before_[i].features);
  }
}

TEST_F(Augment, PlaysTheSameNotesFasterOrSlower) {
  make(&AugmentOptions::tempo);
  for (size_t i = 0; i < kCount; ++i) {
    const double tempo = after_[i].augmentation.tempo;
    EXPECT_GE(tempo, 1 / 1.25);
    EXPECT_LE(tempo, 1.25);
    EXPECT_EQ(after_[i].played, after_[i].melody);
    // Before the lead-in is cut off, the first notes are the same.
    const auto slow = pitches(before_[i].melody), now = pitches(after_[i].melody);
    EXPECT_TRUE(std::equal(slow.begin(), slow.begin() + 4, now.begin()));
    const double step_s = before_[i].melody[3].start_s - before_[i].melody[0].start_s;
    EXPECT_NEAR((after_[i].melody[3].start_s - after_[i].melody[0].start_s) * tempo, step_s, 1e-9);
    for (const auto& note : after_[i].melody) EXPECT_GT(note.end_s - note.start_s, 0.07);
  }
}

TEST_F(Augment, ChangesTheLevelOfTheReference) {
  make(&AugmentOptions::gain);
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(after_[i].target, before_[i].target);
    EXPECT_EQ(after_[i].melody, before_[i].melody);
    const double gain = std::pow(10, *after_[i].augmentation.reference_gain_db / 20);
    ASSERT_EQ(after_[i].reference.size(), before_[i].reference.size());
    for (size_t k = 0; k < after_[i].reference.size(); k += 97) {
      ASSERT_NEAR(after_[i].reference[k], std::clamp(gain * before_[i].reference[k], -1.0, 1.0),
                  1e-6);
    }
  }
}

TEST_F(Augment, RecordsTheReference) {
  make(&AugmentOptions::recording);
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(after_[i].target, before_[i].target);
    EXPECT_EQ(after_[i].melody, before_[i].melody);
    EXPECT_EQ(after_[i].reference_notes, before_[i].reference_notes);
    ASSERT_EQ(after_[i].reference.size(), before_[i].reference.size());
    EXPECT_NE(after_[i].reference, before_[i].reference);
    EXPECT_NEAR(active_rms(after_[i].reference), active_rms(before_[i].reference), 0.02);
  }
}

TEST_F(Augment, AddsNoiseToTheReference) {
  make(&AugmentOptions::noise);
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(after_[i].target, before_[i].target);
    std::vector<float> noise(before_[i].reference.size());
    for (size_t k = 0; k < noise.size(); ++k) {
      noise[k] = after_[i].reference[k] - before_[i].reference[k];
    }
    const double snr_db = 20 * std::log10(active_rms(before_[i].reference) / testing::rms(noise));
    EXPECT_NEAR(snr_db, *after_[i].augmentation.reference_snr_db, 0.1);
    EXPECT_GE(snr_db, 24.9);
  }
}

TEST_F(Augment, TakesNotesFromTheMelodyThatTheTargetHas) {
  make(&AugmentOptions::note_drops);
  size_t all = 0, missing = 0;
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(after_[i].played, before_[i].played);
    EXPECT_EQ(after_[i].target, before_[i].target);
    EXPECT_TRUE(std::ranges::includes(before_[i].melody, after_[i].melody, {},
                                      &audio::Note::start_s, &audio::Note::start_s));
    all += before_[i].melody.size();
    missing += before_[i].melody.size() - after_[i].melody.size();
  }
  EXPECT_GT(missing, all / 25);
  EXPECT_LT(missing, all / 4);
}

// The hum as the transcriber gets it.
std::vector<float> hum_of(const AugmentOptions& augment, Augmentation& drawn) {
  auto options = options_with(augment);
  options.transcribed_share = 1;
  options.chord_share = 0;
  std::vector<float> heard;
  ItemMaker maker(options, [&](std::span<const float> samples) {
    heard.assign(samples.begin(), samples.end());
    return std::vector<audio::Note>{};
  });
  drawn = maker.make(3).augmentation;
  return heard;
}

TEST(AugmentedHums, AreLouderOrSofterAndNoisierBeforeTheyAreTranscribed) {
  Augmentation drawn;
  const auto plain = hum_of(AugmentOptions::none(), drawn);
  const auto louder = hum_of(only(&AugmentOptions::gain), drawn);
  ASSERT_EQ(louder.size(), plain.size());
  const double gain = std::pow(10, *drawn.hum_gain_db / 20);
  for (size_t k = 0; k < plain.size(); k += 101) {
    ASSERT_NEAR(louder[k], std::clamp(gain * plain[k], -1.0, 1.0), 1e-6);
  }
  auto noise = hum_of(only(&AugmentOptions::noise), drawn);
  for (size_t k = 0; k < plain.size(); ++k) noise[k] -= plain[k];
  EXPECT_NEAR(20 * std::log10(active_rms(plain) / testing::rms(noise)), *drawn.hum_snr_db, 0.2);
}

TEST(Augmentation, IsDrawnForItsShareOfTheItems) {
  constexpr double kItems = 2000;
  int transposed = 0, faster = 0, dropped = 0, moved = 0;
  for (uint64_t i = 0; i < kItems; ++i) {
    const auto drawn = draw_augmentation({}, 1, i);
    transposed += drawn.transposition != 0 ? 1 : 0;
    faster += drawn.tempo != 1 ? 1 : 0;
    dropped += drawn.drops_notes ? 1 : 0;
    moved += drawn.octave != 0 ? 1 : 0;
  }
  EXPECT_NEAR(transposed, kItems / 2, 90);
  EXPECT_NEAR(faster, kItems / 2, 90);
  EXPECT_NEAR(dropped, kItems / 20, 40);
  EXPECT_EQ(moved, 0);
  EXPECT_EQ(describe(draw_augmentation(AugmentOptions::none(), 1, 1)), Json::object());
}

}  // namespace
}  // namespace hum::data
