// The end of guidance in a window.
#include "models/humming/sampling_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/humming/config.h"

namespace hum::models::humming {
namespace {

using testing::HasSubstr;

// Notes as [first, last) frames.
std::vector<float> melody_of(const std::vector<std::pair<int64_t, int64_t>>& notes) {
  constexpr int64_t kFeatures = 9;
  std::vector<float> melody(kWindowFrames * kFeatures);
  auto set = [&](int64_t frame, int64_t feature) {
    melody[static_cast<size_t>(frame * kFeatures + feature)] = 1;
  };
  for (const auto& [first, last] : notes) {
    set(first, kMelodyOnset);
    for (int64_t frame = first; frame < last; ++frame) set(frame, kMelodySounding);
  }
  return melody;
}

int64_t guided(const std::string& over, const std::vector<std::pair<int64_t, int64_t>>& notes) {
  return guided_frames({.guidance_over = over}, melody_of(notes));
}

TEST(GuidanceOver, TheFirstNoteEndsWithItsSoundOrWithTheNextNote) {
  EXPECT_EQ(guided("first-note", {{10, 40}, {60, 80}}), 40);
  EXPECT_EQ(guided("first-note", {{10, 40}, {40, 80}}), 40);
  EXPECT_EQ(guided("first-note", {{10, 300}}), 300);
}

TEST(GuidanceOver, FramesAreCountedFromTheFirstNote) {
  EXPECT_EQ(guided("9", {{10, 40}}), 19);
  EXPECT_EQ(guided("9", {{295, 300}}), 300);
  EXPECT_EQ(guided("400", {{10, 40}}), 300);
}

TEST(GuidanceOver, AllIsTheWindowAndSilenceHasNoFirstNote) {
  EXPECT_EQ(guided("all", {}), 300);
  EXPECT_EQ(guided("first-note", {}), 0);
}

TEST(SamplingOptions, GuidanceIsThatOfBothUnlessTheyHaveTheirOwn) {
  const SamplingOptions both{.guidance = 2}, melody{.guidance = 2, .melody_guidance = 3};
  EXPECT_EQ(both.guidance_of_melody(), 2);
  EXPECT_EQ(both.guidance_of_timbre(), 2);
  EXPECT_EQ(melody.guidance_of_melody(), 3);
  EXPECT_EQ(melody.guidance_of_timbre(), 2);
}

TEST(SamplingOptions, OutOfRangeAreRefusedByName) {
  auto what = [](const SamplingOptions& options) -> std::string {
    try {
      validate(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(what({}), "");
  EXPECT_THAT(what({.melody_guidance = 21}), HasSubstr("--melody-guidance 21"));
  EXPECT_THAT(what({.timbre_guidance = -0.5}), HasSubstr("--timbre-guidance -0.5"));
  EXPECT_THAT(what({.draft = 1.5}), HasSubstr("--draft 1.5"));
  for (const char* text : {"0", "-9", "9.5", "some", ""}) {
    EXPECT_THAT(what({.guidance_over = text}), HasSubstr("--guidance-over")) << text;
  }
}

}  // namespace
}  // namespace hum::models::humming
