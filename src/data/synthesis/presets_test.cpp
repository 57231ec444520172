#include "data/synthesis/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace hum::data {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(Presets, HoldsAtLeastFortyWithUniqueNamesAndSaneRanges) {
  std::set<std::string_view> names;
  EXPECT_GE(presets().size(), 40U);
  for (const Preset& preset : presets()) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    if (!preset.alias.empty()) {
      EXPECT_TRUE(names.insert(preset.alias).second) << preset.alias;
    }
    EXPECT_GE(preset.high - preset.low, 24) << preset.name;
    EXPECT_GE(preset.program, 0);
    EXPECT_LT(preset.program, 128);
    EXPECT_EQ(preset.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
  }
}

TEST(Presets, TrainsOnTwentyFourOrMoreFromEveryMelodicFamily) {
  const auto trained = training_presets();
  EXPECT_GE(trained.size(), 24U);
  std::set<std::string_view> names;
  std::set<std::string_view> families;
  for (const Preset* preset : trained) {
    names.insert(preset->name);
    families.insert(preset->family);
  }
  EXPECT_THAT(names, Contains("violin"));
  EXPECT_THAT(names, Contains("flute"));
  EXPECT_THAT(names, Contains("acoustic-grand-piano"));
  EXPECT_GE(families.size(), 10U);
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
