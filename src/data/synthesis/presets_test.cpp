#include "data/synthesis/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"

namespace hum::data {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Presets, AreAtLeastAHundredWithUniqueNamesAndSaneRanges) {
  std::set<std::string_view> names;
  std::set<int> programs;
  EXPECT_GE(presets().size(), 100U);
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    if (!preset.alias.empty()) {
      EXPECT_TRUE(names.insert(preset.alias).second) << preset.alias;
    }
    EXPECT_TRUE(programs.insert(preset.program).second) << preset.name;
    EXPECT_GE(preset.high - preset.low, 24) << preset.name;
    EXPECT_GE(preset.program, 0);
    EXPECT_LT(preset.program, 128);
    EXPECT_EQ(preset.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
  }
}

TEST(Presets, HoldOutFifteenPercentButNoFamily) {
  std::map<std::string_view, int> trained, held_out;
  for (const Preset& preset : presets()) ++(preset.held_out ? held_out : trained)[preset.family];
  const auto all = static_cast<double>(presets().size());
  const auto kept = static_cast<double>(training_presets().size());
  EXPECT_NEAR(1 - kept / all, 0.15, 0.01);
  EXPECT_GE(held_out.size(), 13U);
  for (const auto& [family, count] : held_out) EXPECT_GE(trained[family], 2 * count) << family;
}

TEST(Presets, BendWherePlayersCan) {
  for (const auto* name : {"violin", "flute", "sax", "guitar", "harmonica", "choir", "saw-lead"}) {
    EXPECT_TRUE(can_bend(find_preset(name))) << name;
  }
  for (const auto* name : {"piano", "celesta", "organ", "accordion", "harp", "kalimba"}) {
    EXPECT_FALSE(can_bend(find_preset(name))) << name;
  }
}

// The names that released weights and their users rely on.
TEST(Presets, TrainOnThoseOfEarlierReleases) {
  for (const auto* name :
       {"piano",        "rhodes",    "harpsichord", "vibraphone",   "marimba",     "organ",
        "church-organ", "accordion", "guitar",      "steel-guitar", "bass",        "violin",
        "cello",        "strings",   "choir",       "trumpet",      "horn",        "sax",
        "oboe",         "clarinet",  "flute",       "pan-flute",    "square-lead", "koto"}) {
    EXPECT_FALSE(find_preset(name).held_out) << name;
  }
}

TEST(Presets, AreFoundByNameAndAliasInAnySpelling) {
  EXPECT_EQ(find_preset("piano").program, 0);
  EXPECT_EQ(find_preset("Acoustic Grand_Piano").program, 0);
  EXPECT_EQ(find_preset("violin").program, 40);
}

TEST(Presets, OfferTheNearestNamesForAnUnknownOne) {
  try {
    find_preset("violn");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("violin"));
  }
  EXPECT_THAT(nearest_presets("saxophone", 8), Contains("alto-sax"));
  EXPECT_THAT(nearest_presets("sax"), Contains("alto-sax"));
  EXPECT_THAT(nearest_presets("saxaphone"), Contains("alto-sax"));
  EXPECT_EQ(nearest_presets("flut").front(), "flute");
  EXPECT_THROW(find_preset(""), Error);
}

TEST(OctaveShift, BringsAMelodyIntoTheRangeByTheSmallestMove) {
  const std::vector<audio::Note> low = {{0, 1, 45, 0.5, {}}, {1, 2, 52, 0.5, {}}};
  EXPECT_EQ(octave_shift(low, 55, 96), 12);
  EXPECT_EQ(octave_shift(low, 40, 84), 0);
  EXPECT_EQ(octave_shift(low, 74, 102), 36);
  EXPECT_EQ(octave_shift(low, 28, 44), -12);
  EXPECT_EQ(octave_shift({}, 55, 96), 0);
}

TEST(OctaveShift, WeighsNotesByTheirLength) {
  const std::vector<audio::Note> notes = {{0, 2, 60, 0.5, {}}, {2, 2.1, 50, 0.5, {}}};
  EXPECT_EQ(octave_shift(notes, 58, 61), 0);
}

}  // namespace
}  // namespace hum::data
