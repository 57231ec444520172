#include "app/evaluation/reference_report.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace hum::app {
namespace {

eval::Timbre timbre(double first) { return {first}; }

TEST(ReferenceReport, RanksAnOutputsReferenceAmongAll) {
  const Json rows = imitation_rows(std::vector<Imitation>{{"flute", timbre(0), timbre(1)},
                                                          {"oboe", timbre(10), timbre(2)},
                                                          {"harp", timbre(5), timbre(5)}});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["rank"], 1);
  EXPECT_EQ(rows[0]["timbre distance"], 1);
  EXPECT_EQ(rows[0]["nearest other"], "harp");
  EXPECT_EQ(rows[0]["timbre distance to it"], 4);
  EXPECT_EQ(rows[1]["rank"], 3) << "flute and harp are nearer";
  EXPECT_EQ(rows[1]["nearest other"], "flute");
  EXPECT_EQ(rows[2]["rank"], 1);
}

TEST(ReferenceReport, HasNoOtherForASingleReference) {
  const Json row = imitation_rows(std::vector<Imitation>{{"flute", timbre(0), timbre(3)}})[0];
  EXPECT_EQ(row["rank"], 1);
  EXPECT_TRUE(row["nearest other"].is_null());
  EXPECT_TRUE(row["timbre distance to it"].is_null());
}

}  // namespace
}  // namespace hum::app
