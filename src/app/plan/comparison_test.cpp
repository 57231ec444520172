// Tests of the report of `hum plan compare`.
#include "app/plan/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/plan/planner_files.h"
#include "base/error.h"
#include "base/json.h"
#include "plan/named_models.h"

namespace hum::app {
namespace {

using ::testing::HasSubstr;

class PlanCompare : public ::testing::Test {
 protected:
  Comparison compare(const std::string& model, std::vector<std::pair<const char*, int64_t>> on) {
    Comparison c{.model = model, .shape = plan::named_model(model)};
    c.market.run.tokens = 1e12;
    for (const auto& [name, nodes] : on) {
      const plan::Device& device = hardware.at(name);
      const auto path = plan::calibration_path(device.calibrated_as());
      c.options.push_back(
          plan::consider(c.shape, device, nodes, plan::read_calibration(path), c.market));
    }
    return c;
  }
  plan::Hardware hardware = read_hardware("");
};

TEST_F(PlanCompare, TellsClustersMovesAndSensitivities) {
  Comparison c = compare(
      "llama-7b",
      {{"p4d.24xlarge", 16}, {"trn1.32xlarge", 16}, {"inf2.48xlarge", 16}, {"tpu-v5p", 32}});
  c.budget = 1e6;
  c.phases = {plan::parse_phase("validation=trn1.32xlarge:1:2", hardware)};
  const Json report = comparison_report(c);
  EXPECT_EQ(report["baseline"], "p4d.24xlarge:16");
  const Json& clusters = report["clusters"];
  ASSERT_EQ(clusters.size(), 4U);
  EXPECT_FALSE(clusters[0].contains("verdict"));
  EXPECT_FALSE(clusters[2]["fits"].get<bool>());  // 384 devices, no factor of 3 elsewhere
  EXPECT_TRUE(clusters[3].contains("verdict"));
  const Json& demand = clusters[1]["offers"]["on-demand"];
  EXPECT_LT(demand["cost_low"], demand["cost"]);
  EXPECT_GT(demand["cost_high"], demand["cost"]);
  EXPECT_NEAR(clusters[1]["tokens_for_budget"].get<double>() / 1e12,
              1e6 / demand["cost"].get<double>(), 1e-9);
  EXPECT_NEAR(
      clusters[1]["migration"]["saving_per_run"].get<double>(),
      clusters[0]["offers"]["on-demand"]["cost"].get<double>() - demand["cost"].get<double>(),
      1e-3);
  const std::string text = comparison_text(report);
  for (const char* said : {"inf2.48xlarge:16: no layout divides a batch of 1024 over 384 devices",
                           "from p4d.24xlarge:16, on demand", "not fitted to runs of this hardware",
                           "interruptions -20 %", "for $1000000 on demand", "1032"})
    EXPECT_THAT(text, HasSubstr(said));
}

TEST_F(PlanCompare, SaysWhereTheModelMayFitWhenItFitsNowhere) {
  const Comparison c = compare("gpt3-175b", {{"p4d.24xlarge", 1}, {"g5.12xlarge", 1}});
  try {
    comparison_report(c);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("do not fit on any of these clusters"));
    EXPECT_THAT(error.what(), HasSubstr("hint: p4d.24xlarge:"));
  }
}

}  // namespace
}  // namespace hum::app
