#include "data/synthesis/items.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/threads.h"
#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/testing_impl.h"

namespace hum::data {
namespace {

ItemOptions three_presets() {
  ItemOptions options;
  options.presets = {"violin", "flute", "piano"};
  options.augment = AugmentOptions::none();
  return options;
}

// Reads a hum with the tests' own pitch meter: frames of equal rounded pitch that are loud enough
// make a note.
std::vector<audio::Note> simple_transcriber(std::span<const float> samples) {
  constexpr double kStep_s = 0.05;
  std::vector<audio::Note> notes;
  const double length_s = static_cast<double>(samples.size()) / kSampleRate;
  int before = 0;
  for (double at_s = 0; at_s + 0.17 < length_s; at_s += kStep_s) {
    const auto part = testing::between(samples, at_s, at_s + 0.16);
    int pitch = 0;
    if (testing::rms(part) > 0.02) {
      pitch = static_cast<int>(std::lround(testing::measured_pitch(part, 80, 1000)));
    }
    const double middle_s = at_s + 0.08;
    if (pitch != 0 && pitch == before) {
      notes.back().end_s = middle_s + kStep_s / 2;
    } else if (pitch != 0) {
      notes.push_back({middle_s - kStep_s / 2, middle_s + kStep_s / 2, pitch, 0.3, {}});
    }
    before = pitch;
  }
  return notes;
}

TEST(Items, InStereoAreTheMonoItemsInTwoChannels) {
  auto options = three_presets();
  ItemMaker mono(options);
  options.channels = audio::Channels::kMidSide;
  ItemMaker stereo(options);
  for (uint64_t i = 0; i < 6; ++i) {
    const auto one = mono.make(i), two = stereo.make(i);
    EXPECT_EQ(two.melody, one.melody);
    EXPECT_EQ(two.played, one.played);
    EXPECT_EQ(two.reference, one.reference);
    ASSERT_EQ(two.target.size(), 2 * one.target.size());
    EXPECT_LE(active_rms(two.target, 2), kTargetRms * 1.001);
    // Left and right, regardless of the tokens' channels: up to a gain, their mean is the mono
    // sound.
    double both = 0, power = 0, error = 0;
    const auto mid = [&](size_t k) { return (two.target[2 * k] + two.target[2 * k + 1]) / 2.0; };
    for (size_t k = 0; k < one.target.size(); ++k) {
      both += mid(k) * one.target[k];
      power += one.target[k] * static_cast<double>(one.target[k]);
    }
    for (size_t k = 0; k < one.target.size(); ++k) {
      error = std::max(error, std::fabs(mid(k) - both / power * one.target[k]));
    }
    EXPECT_LT(error, 1e-5) << i;
    EXPECT_EQ(stereo.describe(two)["channels"], "mid_side");
  }
}

TEST(Items, KeepTheirShapesLevelsAndRanges) {
  ItemMaker maker(three_presets());
  for (uint64_t i = 0; i < 24; ++i) {
    const auto item = maker.make(i);
    const Preset& preset = *maker.presets()[item.preset];
    EXPECT_EQ(item.index, i);
    EXPECT_EQ(item.preset, static_cast<int>(i % 3));
    ASSERT_EQ(item.target.size(), static_cast<size_t>(kItemSamples));
    EXPECT_GE(item.reference.size(), static_cast<size_t>(kSampleRate));
    EXPECT_LE(item.reference.size(), static_cast<size_t>(5 * kSampleRate));
    EXPECT_EQ(item.features.size(), static_cast<size_t>(kItemFrames * kMelodyFeatures));
    EXPECT_EQ(item.features, melody_features(item.melody, kItemFrames));
    for (const auto* samples : {&item.target, &item.reference}) {
      EXPECT_LE(active_rms(*samples), kTargetRms * 1.001);
      EXPECT_GT(active_rms(*samples), kTargetRms / 4);
      for (const float sample : *samples) ASSERT_LE(std::fabs(sample), kPeakLimit + 1e-5);
    }
    for (const auto& note : item.melody) {
      EXPECT_GE(note.pitch, preset.low);
      EXPECT_LE(note.pitch, preset.high);
      EXPECT_LT(note.start_s, kItemSeconds);
    }
  }
}

TEST(Items, AreTheSameInAnyOrderAndInSeveralThreads) {
  constexpr int kCount = 8;
  std::vector<TrainingItem> forward(kCount), threaded(kCount);
  ItemMaker maker(three_presets());
  for (int i = 0; i < kCount; ++i) forward[i] = maker.make(i);
  parallel_for(kCount, 4, [&](int64_t i) {
    threaded[i] = ItemMaker(three_presets()).make(static_cast<uint64_t>(i));
  });
  for (int i = kCount - 1; i >= 0; --i) {
    for (const auto& other : {maker.make(i), threaded[i]}) {
      EXPECT_EQ(other.target, forward[i].target) << i;
      EXPECT_EQ(other.reference, forward[i].reference) << i;
      EXPECT_EQ(other.reference_notes, forward[i].reference_notes) << i;
      EXPECT_EQ(other.melody, forward[i].melody) << i;
      EXPECT_EQ(other.features, forward[i].features) << i;
    }
  }
}

// Of the notes that are long enough and wholly inside a sound: those whose pitch is heard in it.
struct PitchCount {
  int checked = 0, right = 0;

  void add(std::span<const float> sound, double length_s, std::span<const audio::Note> notes) {
    for (const auto& note : notes) {
      if (note.start_s < 0 || note.end_s > length_s || note.end_s - note.start_s < 0.32) continue;
      const auto part = testing::between(sound, note.start_s + 0.1, note.end_s - 0.02);
      ++checked;
      if (std::fabs(testing::measured_pitch(part, 100) - note.pitch) < 0.4) ++right;
    }
  }
};

TEST(Items, TargetsSoundThePitchOfTheMelodyTheyWerePlayedFrom) {
  auto options = three_presets();
  options.presets = {"flute"};
  options.expressive_share = 0;
  ItemMaker maker(options);
  PitchCount count;
  for (uint64_t i = 0; i < 10; ++i) {
    const auto item = maker.make(i);
    count.add(item.target, kItemSeconds, item.played);
  }
  EXPECT_GT(count.checked, 40);
  EXPECT_GE(count.right, count.checked * 95 / 100);
}

TEST(Items, CarryDefectsOfTimeAndAbsenceButNeverOfPitch) {
  auto options = three_presets();
  options.defect_share = 1;
  ItemMaker maker(options);
  int dropped = 0;
  int moved = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    const auto item = maker.make(i);
    EXPECT_TRUE(item.defective);
    dropped += static_cast<int>(item.melody.size() - item.played.size());
    for (const auto& note : item.played) {
      const auto same = std::ranges::find_if(item.melody, [&](const audio::Note& asked) {
        return asked.end_s == note.end_s && asked.pitch == note.pitch;
      });
      ASSERT_NE(same, item.melody.end());
      EXPECT_LE(std::fabs(same->start_s - note.start_s), 0.05 + 1e-9);
      moved += same->start_s != note.start_s ? 1 : 0;
    }
  }
  EXPECT_GT(dropped, 5);
  EXPECT_GT(moved, 100);
}

TEST(Items, ShareOutDefectsWindowsAndTranscriptions) {
  auto options = three_presets();
  ItemMaker maker(options, simple_transcriber);
  int defective = 0, transcribed = 0, inside = 0;
  constexpr int kCount = 60;
  for (uint64_t i = 0; i < kCount; ++i) {
    const auto item = maker.make(i);
    defective += item.defective ? 1 : 0;
    transcribed += item.transcribed ? 1 : 0;
    inside += item.melody.front().start_s < 0 ? 1 : 0;
    if (!item.defective) {
      EXPECT_EQ(item.melody, item.played);
    }
    for (const auto& note : item.melody) {
      EXPECT_GE(note.amplitude * 127, kVelocityLow - 1e-9);
      EXPECT_LE(note.amplitude * 127, kVelocityHigh + 1e-9);
    }
  }
  EXPECT_NEAR(defective, 0.15 * kCount, 8);
  EXPECT_NEAR(inside, 0.5 * kCount, 15);
  EXPECT_GT(transcribed, 0.25 * kCount);
  EXPECT_LT(transcribed, 0.65 * kCount);
}

TEST(Items, ReferencesSoundTheirNotes) {
  auto options = three_presets();
  options.presets = {"flute"};
  options.expressive_share = 0;
  ItemMaker maker(options);
  PitchCount count;
  for (uint64_t i = 0; i < 16; ++i) {
    const auto item = maker.make(i);
    const double length_s = static_cast<double>(item.reference.size()) / kSampleRate;
    for (const auto& note : item.reference_notes) EXPECT_LT(note.start_s, length_s);
    count.add(item.reference, length_s, item.reference_notes);
  }
  EXPECT_GT(count.checked, 20);
  EXPECT_GE(count.right, count.checked * 95 / 100);
}

TEST(Items, WithoutOtherReferencesAreThoseOfEarlierReleases) {
  auto options = three_presets();
  ItemMaker mixed(options);
  options.reference = {.same_register = 0, .low_to_high = 0};
  ItemMaker plain(options);
  std::map<ReferenceKind, int> kinds;
  for (uint64_t i = 0; i < 24; ++i) {
    const auto one = mixed.make(i), other = plain.make(i);
    ++kinds[one.reference_kind];
    EXPECT_EQ(mixed.describe(one)["reference"], Json(to_name(one.reference_kind)));
    EXPECT_EQ(other.reference_kind, ReferenceKind::kMelody);
    EXPECT_EQ(one.target, other.target);
    EXPECT_EQ(one.melody, other.melody);
    EXPECT_EQ(one.reference.size(), other.reference.size());
    if (one.reference_kind == ReferenceKind::kMelody) {
      EXPECT_EQ(one.reference, other.reference);
    }
  }
  EXPECT_NEAR(kinds[ReferenceKind::kMelody], 12, 6);
  EXPECT_NEAR(kinds[ReferenceKind::kSameRegister], 6, 5);
  EXPECT_NEAR(kinds[ReferenceKind::kLowToHigh], 6, 5);
}

TEST(Items, ReadNothingIntoASilentTranscription) {
  ItemMaker maker(three_presets(),
                  [](std::span<const float>) { return std::vector<audio::Note>{}; });
  ItemMaker without(three_presets());
  for (uint64_t i = 0; i < 4; ++i) {
    const auto item = maker.make(i);
    EXPECT_FALSE(item.transcribed);
    EXPECT_EQ(item.target, without.make(i).target);
  }
}

TEST(Items, TakeTurnsOverPresetsAndThenSoundFonts) {
  auto options = three_presets();
  ItemMaker both(options);
  options.sound_fonts = {"fluidr3"};
  ItemMaker first(options);
  ASSERT_EQ(both.sound_fonts().size(), 2U);
  for (uint64_t i = 0; i < 6; ++i) {
    const auto item = both.make(i), other = first.make(i);
    EXPECT_EQ(item.sound_font, i < 3 ? 0 : 1);
    EXPECT_EQ(item.melody, other.melody);
    EXPECT_EQ(item.target == other.target, i < 3) << "the second font sounds like the first";
    EXPECT_EQ(item.reference == other.reference, i < 3);
    EXPECT_EQ(both.describe(item)["sound_font"], i < 3 ? "fluidr3" : "timgm6mb");
  }
}

TEST(Items, LeaveOutAFontThatPlaysThePresetAtAnotherPitch) {
  if (!std::filesystem::exists(find_sound_font("opl3").path)) {
    GTEST_SKIP() << "apt install opl3-soundfont";
  }
  ItemOptions options;
  options.presets = {"percussive-organ", "violin"};
  options.sound_fonts = {"opl3", "fluidr3"};
  ItemMaker maker(options);
  for (uint64_t i = 0; i < 4; ++i) {
    const bool is_organ = i % 2 == 0;
    EXPECT_EQ(maker.describe(maker.make(i))["sound_font"], i < 2 && !is_organ ? "opl3" : "fluidr3");
  }
}

TEST(Items, RefuseUnknownPresetsAndSoundFonts) {
  ItemOptions options;
  options.presets = {"violn"};
  EXPECT_THROW(ItemMaker{options}, Error);
  options.presets = {"violin"};
  options.sound_fonts = {"fluid"};
  EXPECT_THROW(ItemMaker{options}, Error);
}

TEST(Items, RefuseSharesOfReferencesAboveOne) {
  auto options = three_presets();
  options.reference = {.same_register = 0.6, .low_to_high = 0.5};
  EXPECT_THROW(ItemMaker{options}, Error);
}

}  // namespace
}  // namespace hum::data
