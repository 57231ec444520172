// Tests of the page that `hum plan assess` writes.
#include "app/plan/assess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/plan/planner_files.h"
#include "base/json.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PlanAssess : public ::testing::Test {
 protected:
  Json assess(const std::string& name, const std::string& from, const std::string& to) {
    const AssessedModel model = assessed_model(name, 2048);
    Assessed assessed{.model = name, .shape = model.shape, .market = {.run = {.tokens = 1e12}}};
    const auto option = [&](const std::string& text) {
      const Cluster cluster = parse_cluster(text, hardware);
      const auto path = plan::calibration_path(cluster.device->calibrated_as());
      return plan::consider(model.shape, *cluster.device, cluster.nodes,
                            plan::read_calibration(path), assessed.market);
    };
    assessed.from = option(from);
    assessed.to = option(to);
    assessed.assessment = plan::assess(model.step, assessed.from, assessed.to, assessed.market, {});
    return assessment_report(assessed);
  }
  plan::Hardware hardware = read_hardware("");
};

TEST_F(PlanAssess, ALlamaHasEveryOperatorAndItsProductsAreNearlyAllItsFlops) {
  const Json report = assess("llama-7b", "p4d:16", "trn1:16");
  EXPECT_EQ(report["from"]["cluster"], "p4d.24xlarge:16");
  EXPECT_EQ(report["to"]["cluster"], "trn1.32xlarge:16");
  const Json& groups = report["operators"]["groups"];
  EXPECT_EQ(groups["unsupported"]["count"], 0);
  EXPECT_GT(groups["supported"]["flops_share"], 0.95);
  double share = 0, products = 0;
  for (const auto& [support, group] : groups.items()) share += group["flops_share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  for (const auto& row : report["operators"]["rows"])
    if (row["op"] == "dot_general") products += row["flops_share"].get<double>();
  EXPECT_GT(products, 0.9);
}

TEST_F(PlanAssess, BothPagesSayTheSame) {
  const Json report = assess("385m", "p4d:2", "trn1:2");
  const std::string page = assessment_page(report), markdown = assessment_markdown(report);
  const std::string advice = report["verdict"]["advice"];
  EXPECT_THAT(page, HasSubstr("class=\"verdict " + advice));
  EXPECT_THAT(markdown, HasSubstr("**" + advice + "**"));
  for (const std::string& both : {page, markdown}) {
    for (const char* said :
         {"Migration assessment: 385m, p4d.24xlarge:2 to trn1.32xlarge:2", "Time and cost of a run",
          "Thresholds", "Operators of the training step", "Risks", "validate", "total",
          "3.0 weeks of one engineer"})
      EXPECT_THAT(both, HasSubstr(said));
    EXPECT_THAT(both, Not(HasSubstr("nan")));
  }
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST_F(PlanAssess, NamesThatCannotBeAreRefusedWithAHint) {
  EXPECT_THAT(message_of([] { assessed_model("codec", 0); }),
              AllOf(HasSubstr("not a transformer"), HasSubstr("hum audit codec")));
  EXPECT_THAT(message_of([] { assessed_model("llama-8t", 0); }), HasSubstr("llama-7b"));
  EXPECT_THAT(message_of([&] { parse_cluster("p6:2", hardware); }), HasSubstr("known are"));
  EXPECT_THAT(message_of([&] { parse_cluster("p4d", hardware); }), HasSubstr("is not a cluster"));
}

}  // namespace
}  // namespace hum::app
