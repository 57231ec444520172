// The presets and their sounds, which are played once.
#include <gmock/gmock.h>

#include "serve/api/test_api.h"

namespace hum::serve {
namespace {

using testing::Answer;
using testing::ApiTest;
using ::testing::IsEmpty;
using testing::tone;

TEST_F(ApiTest, PresetsAreThoseOfTheProgram) {
  const Json presets = get("/v1/presets")["presets"];
  EXPECT_GT(presets.size(), 100U);
  EXPECT_EQ(presets[0]["name"], "acoustic-grand-piano");
  EXPECT_EQ(presets[0]["family"], "piano");
}

TEST_F(ApiTest, ThePresetsSoundIsPlayedOnce) {
  const std::string path = get("/v1/presets")["presets"][0]["sound"];
  EXPECT_EQ(ask("GET", "/v1/presets/kazoo/sound.wav").status, 404);
  const Answer first = ask("GET", path);
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(first.headers.at("retry-after"), "1");
  EXPECT_EQ(ask("GET", path).status, 202);
  EXPECT_EQ(records_.counts().queued, 1);
  EXPECT_THAT(get("/v1/jobs")["jobs"], IsEmpty()) << "it is nobody's job";
  finish_next();
  EXPECT_EQ(ask("GET", path).body, tone(1));
  EXPECT_EQ(ask("GET", path).body, tone(1));
  EXPECT_EQ(records_.counts().done, 0);
  EXPECT_THAT(store_.list("jobs"), IsEmpty());
}

TEST_F(ApiTest, PagesOfOtherOriginsStartNoPresetSounds) {
  const std::string path = PresetSounds::path("violin");
  expect_problem(ask("GET", path, "Sec-Fetch-Site: cross-site\r\n"), 403, "other origins");
  EXPECT_EQ(records_.counts().queued, 0);
  EXPECT_EQ(ask("GET", path, "Sec-Fetch-Site: same-origin\r\n").status, 202);
}

TEST_F(ApiTest, APresetThatCannotBePlayedIsTriedOnce) {
  const std::string path = PresetSounds::path("violin");
  EXPECT_EQ(ask("GET", path).status, 202);
  records_.fail_job(claimed(records_), testing::kFault);
  EXPECT_EQ(ask("GET", path).status, 500);
  EXPECT_EQ(ask("GET", path).status, 500);
  EXPECT_EQ(records_.counts().queued, 0);
}

}  // namespace
}  // namespace hum::serve
