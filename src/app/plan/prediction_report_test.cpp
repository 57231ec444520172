// Tests of the reports and errors of `hum plan`.
#include "app/plan/prediction_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/plan/audit_report.h"
#include "app/plan/cluster_outlook.h"
#include "app/plan/planned_step.h"
#include "app/plan/planner_files.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "plan/named_models.h"

namespace hum::app {
namespace {

using hum::testing::message_of;
using ::testing::HasSubstr;

TEST(PlanReport, AuditsListTheFiguresThatWereNotRead) {
  AuditedPlan audited;
  audited.claims.not_read = {{"lr", "3e-4", "train.yaml: lr"}};
  EXPECT_EQ(audit_text(audited),
            "not read    lr = 3e-4, at train.yaml: lr\n"
            "0 checks, 0 contradictions, 1 figure not read\n");
  const Json report = audit_report(audited);
  EXPECT_TRUE(report["consistent"].get<bool>());
  EXPECT_EQ(report["not_read"],
            parse_json(R"([{"name": "lr", "value": "3e-4", "place": "train.yaml: lr"}])"));
}

TEST(PlanReport, PredictionsComeWithIntervalsAndASummary) {
  const plan::Hardware hardware = read_hardware("");
  const auto campaign =
      plan::read_campaign(source_folder() / "tests/data/planner/a100_megatron_sc21.csv", hardware);
  const auto calibration = plan::read_calibration(plan::calibration_path("a100"));
  const Json report = predictions_report(campaign, hardware.at("a100"), calibration);
  ASSERT_EQ(report["rows"].size(), 10U);
  for (const auto& row : report["rows"]) {
    double sum = 0;
    for (const auto& [part, seconds] : row["parts_s"].items()) sum += seconds.get<double>();
    EXPECT_NEAR(sum, row["predicted_s"].get<double>(), 1e-9);
    EXPECT_LT(row["low_s"], row["predicted_s"]);
    EXPECT_GT(row["high_s"], row["predicted_s"]);
    EXPECT_LE(std::abs(row["error_percent"].get<double>()), report["summary"]["worst_percent"]);
  }
  EXPECT_EQ(report["summary"]["rows"], 10);
  EXPECT_LT(report["summary"]["mape_percent"], 8);
  const std::string text = predictions_text(report);
  EXPECT_THAT(text, HasSubstr("assumed recompute: full"));
  EXPECT_THAT(text, HasSubstr("10 measured: mean error"));
}

class PlanOutlook : public ::testing::Test {
 protected:
  plan::SearchResult find(const std::string& model, const std::string& on,
                          const LayoutWishes& wishes) {
    const Cluster cluster = parse_cluster(on, hardware);
    const auto path = plan::calibration_path(cluster.device->calibrated_as());
    return find_layouts(plan::named_model(model), wishes, cluster,
                        plan::read_calibration(path).efficiency);
  }
  std::string refusal(const std::string& model, const std::string& on, const LayoutWishes& wishes) {
    return message_of([&] { find(model, on, wishes); });
  }
  plan::Hardware hardware = read_hardware("");
};

TEST_F(PlanOutlook, WishesAreKept) {
  const auto found =
      find("llama-7b", "trn1.32xlarge:16", {.tp = 8, .micro_batch = 2, .recompute = "selective"});
  ASSERT_FALSE(found.fitting.empty());
  for (const auto& c : found.fitting) {
    EXPECT_EQ(c.layout.tp, 8);
    EXPECT_EQ(c.layout.micro_batch, 2);
    EXPECT_EQ(c.layout.recompute, graph::RecomputePolicy::kSelective);
    EXPECT_LE(c.bytes, 17.18e9);
  }
  for (const auto& c : find("llama-7b", "trn1.32xlarge:16", {.pp = 4, .interleave = 4}).fitting) {
    EXPECT_EQ(c.layout.interleave, 4);
    EXPECT_EQ(c.layout.micro_batches() % 4, 0) << c.layout.tp;
  }
  const Json layouts = layouts_report(found);
  EXPECT_EQ(layouts["fitting"].size(), found.fitting.size());
  EXPECT_TRUE(layouts["fitting"][0]["pareto"].get<bool>());
}

TEST_F(PlanOutlook, WhatCannotBeIsRefusedWithTheNearestThatWorks) {
  EXPECT_THAT(refusal("llama-70b", "trn1.32xlarge:4", {.tp = 8, .pp = 1}),
              HasSubstr("the nearest that does: --tp 8"));
  EXPECT_THAT(refusal("llama-7b", "trn1.32xlarge:16", {.pp = 1, .interleave = 2}),
              HasSubstr("--interleave 1"));
  EXPECT_THAT(refusal("gpt3-175b", "p4d.24xlarge:1", {}), HasSubstr("do not fit into"));
  EXPECT_THAT(refusal("llama-70b", "p5.48xlarge:8", {.tp = 7, .pp = 1}),
              HasSubstr("the nearest tp that does is 8"));
  EXPECT_THAT(refusal("llama-7b", "p5.48xlarge:8", {.tp = 8, .pp = 3}),
              HasSubstr("the nearest pp that does is"));
  EXPECT_THAT(refusal("llama-7b", "p5.48xlarge:8", {.global_batch = 0}), HasSubstr("a batch of 0"));
  EXPECT_THAT(refusal("llama-7b", "p5.48xlarge:8", {.micro_batch = -1}), HasSubstr("-1"));
  EXPECT_THAT(refusal("llama-7b", "p5.48xlarge:8", {.recompute = "some"}),
              HasSubstr("not one of none"));
  for (const std::string on : {"p5.48xlarge", "p5.48xlarge:", "p5.48xlarge:0", "p5.48xlarge:2x"})
    EXPECT_THAT(message_of([&] { parse_cluster(on, hardware); }), HasSubstr("is not a cluster"));
  EXPECT_THAT(message_of([&] { parse_cluster("p6:2", hardware); }), HasSubstr("known are"));
  EXPECT_THAT(refusal("llama-7b", "p5.48xlarge:8", {.zero = "2"}), HasSubstr("not one of 0, 1"));
}

TEST_F(PlanOutlook, GivesUpAsLittleOfTheWishesAsCanBe) {
  const LayoutWishes none = {.tp = 1, .pp = 1, .micro_batch = 1, .recompute = "none"};
  EXPECT_THAT(refusal("llama-7b", "trn1.32xlarge:16", none), HasSubstr("--tp"));
  EXPECT_THAT(refusal("llama-7b", "trn1.32xlarge:16", {.tp = 8, .pp = 1, .recompute = "none"}),
              HasSubstr("--tp 8 --pp 1 --micro-batch 4 --interleave 1 --recompute selective"));
  EXPECT_THAT(refusal("llama-7b", "p4d.24xlarge:4", {.tp = 2, .pp = 1, .zero = "0"}),
              ::testing::ContainsRegex("--tp 2 --pp 1 .* --zero 1"));
  EXPECT_TRUE(
      find("llama-7b", "p4d.24xlarge:4", {.zero = "1"}).fitting[0].layout.distributed_optimizer);
  EXPECT_FALSE(find("llama-7b", "p4d.24xlarge:4", {}).fitting[0].layout.distributed_optimizer);
}

TEST_F(PlanOutlook, TheReportTellsPartsThatAddUp) {
  const Cluster cluster = parse_cluster("trn1.32xlarge:16", hardware);
  const auto model = plan::named_model("llama-7b");
  const auto found = find("llama-7b", "trn1.32xlarge:16", {});
  const auto outlook =
      plan::look_ahead(model, found.fitting[0].layout, *cluster.device,
                       plan::read_calibration(plan::calibration_path("trn1")), {.tokens = 1e12});
  const Json report = outlook_report("llama-7b", model, cluster, outlook);
  double step = 0;
  for (const auto& [part, seconds] : report["parts_s"].items()) step += seconds.get<double>();
  EXPECT_NEAR(step, report["step_s"].get<double>(), 1e-9);
  double bytes = 0;
  for (const auto& [part, value] : report["memory_bytes"].items())
    bytes += part == "total" || part == "device" ? 0 : value.get<double>();
  EXPECT_NEAR(bytes, report["memory_bytes"]["total"].get<double>(), 1);
  EXPECT_GT(report["memory_bytes"]["collectives"], 0) << "sequence parallelism gathers";
  const std::string text = outlook_text(report);
  for (const char* said : {"6.74B parameters", "16 x trn1.32xlarge", "MFU", "days, $", "goodput"})
    EXPECT_THAT(text, HasSubstr(said));
}

TEST(PlanMemory, KnowsConfigurationsAndLlamas) {
  const PlannedModel tiny = planned_model("tiny", {.batch = 2});
  const auto none = step_memory(tiny.spec, tiny.optimizer, {}, 1);
  EXPECT_LT(none.optimizer, 2 * none.weights) << "two moments, but none for the codebooks";
  EXPECT_GT(none.optimizer, 1.8 * none.weights);
  EXPECT_EQ(step_memory(tiny.spec, tiny.optimizer, {}, 4).optimizer, none.optimizer);
  const auto full =
      step_memory(tiny.spec, tiny.optimizer, {.recompute = graph::RecomputePolicy::kFull}, 1);
  EXPECT_LT(full.activations, none.activations / 2);
  EXPECT_EQ(planned_model("llama-7b", {.seq = 64}).spec.parameters->element_count(), 6738415616);
  EXPECT_THAT(message_of([] { planned_model("tiny", {.seq = 64}); }), HasSubstr("need a Llama"));
  EXPECT_THAT(message_of([] { planned_model("llama-9b", {}); }), HasSubstr("no model 'llama-9b'"));
  EXPECT_THAT(message_of([] { planned_model("nothing", {}); }), HasSubstr("nothing"));
}

}  // namespace
}  // namespace hum::app
