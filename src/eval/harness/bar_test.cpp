#include "eval/harness/bar.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"

namespace hum::eval {
namespace {

using ::testing::ElementsAre;

TEST(Checks, AllMustHold) {
  Checks checks;
  EXPECT_FALSE(checks.ok());  // nothing was checked
  checks.at_least("f1", 0.8, 0.8);
  checks.at_most("seconds", 9, 9);
  checks.holds("controls fail", true);
  EXPECT_TRUE(checks.ok());
  checks.at_least("chroma", 0.8999, 0.9);
  checks.at_most("memory", 4.1, 4);
  EXPECT_FALSE(checks.ok());
  EXPECT_THAT(checks.missed(), ElementsAre("chroma", "memory"));
}

TEST(Checks, NotANumberMeetsNoLimit) {
  Checks checks;
  checks.at_least("low", NAN, 0);
  checks.at_most("high", NAN, 0);
  EXPECT_THAT(checks.missed(), ElementsAre("low", "high"));
}

TEST(Checks, HaveOneNameEach) {
  Checks checks;
  checks.holds("a", true);
  EXPECT_THROW(checks.holds("a", true), Error);
}

TEST(Bar, IsOneLineOfJsonWithTheOutcomeComputed) {
  Bar bar{.name = "demo-time", .value = 3.5, .unit = "s", .bar = "first <= 60 s"};
  bar.checks.at_most("first_s", 3.5, 60);
  bar.ours["notes"] = 28;
  bar.peer["ceiling"] = 0.5;
  EXPECT_EQ(to_text(to_json(bar)),
            R"({"name":"demo-time","value":3.5,"unit":"s","bar":"first <= 60 s","ok":true,)"
            R"("ours":{"first_s":3.5,"notes":28},"peer":{"ceiling":0.5}})");
  bar.checks.at_least("f1", 0.1, 0.5);
  const Json json = to_json(bar);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["missed"], Json::array({"f1"}));
}

TEST(Bar, IsNotJudgedIfThereIsAReason) {
  Bar bar{.name = "hear-people", .reason = "no recordings"};
  bar.checks.at_least("f1", 0.9, 0.5);
  const Json json = to_json(bar);
  EXPECT_TRUE(json["ok"].is_null());
  EXPECT_EQ(json["reason"], "no recordings");
}

TEST(TextTable, LinesUp) {
  TextTable table({"row", "f1"});
  table.row({"ours", "0.5"});
  table.row({"the ceiling", "0.74"});
  EXPECT_EQ(table.text(), "row          f1\nours         0.5\nthe ceiling  0.74\n");
  EXPECT_THROW(table.row({"one"}), Error);
}

}  // namespace
}  // namespace hum::eval
