// Tests of migration assessments.
#include "plan/assessment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/refusal.h"
#include "graph/ops.h"
#include "plan/named_models.h"

namespace hum::plan {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Value matrix() { return graph::parameter("x", {DType::kBF16, {64, 64}}); }

// Only products; with an FFT, since Neuron has no complex numbers; with a loop, which Neuron cannot
// run.
graph::Function products() {
  const Value x = matrix();
  return {.parameters = {x}, .results = {matmul(x, x) + x}};
}
graph::Function with_spectrum() {
  const Value x = graph::parameter("x", {DType::kF32, {4, 8}});
  return {.parameters = {x}, .results = {rfft(x).real}};
}
graph::Function with_loop() {
  const Value x = graph::parameter("x", {DType::kF32, {4, 4}});
  const auto loop = while_loop(
      Values{x}, [](auto c) { return sum_all(c[0]) < 10; },
      [](auto c) { return Values{matmul(c[0], c[0])}; });
  return {.parameters = {x}, .results = {loop[0]}};
}

const OperatorUse* use_of(const std::vector<OperatorUse>& uses, const std::string& op) {
  const auto found = std::ranges::find(uses, op, &OperatorUse::op);
  return found == uses.end() ? nullptr : &*found;
}

TEST(Operators, NearlyAllFlopsAreTheProducts) {
  const auto uses = check_operators(products(), "cuda", "neuron");
  const OperatorUse* product = use_of(uses, "dot_general");
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->support, Support::kSupported);
  EXPECT_EQ(product->count, 1);
  EXPECT_DOUBLE_EQ(product->flops_share, 2.0 * 64 / (2.0 * 64 + 1));
}

TEST(Operators, WhatIsJudgedAsOnGpusNeedsNoChange) {
  const auto spectrum = check_operators(with_spectrum(), "cuda", "neuron");
  const OperatorUse* fft = use_of(spectrum, "rfft");
  ASSERT_NE(fft, nullptr);
  EXPECT_EQ(fft->support, Support::kNeedsChange);
  EXPECT_TRUE(fft->rewritten);
  EXPECT_THAT(fft->hint, HasSubstr("cosines"));
  const auto on_tpu = check_operators(with_spectrum(), "cuda", "tpu");
  EXPECT_EQ(use_of(on_tpu, "rfft")->support, Support::kSupported);
}

TEST(Operators, UnsupportedOnesComeFirstWithTheirLine) {
  const auto uses = check_operators(with_loop(), "cuda", "neuron");
  ASSERT_FALSE(uses.empty());
  EXPECT_EQ(uses[0].op, "while");
  EXPECT_EQ(uses[0].support, Support::kUnsupported);
  EXPECT_THAT(uses[0].where.at(0), HasSubstr("assessment_test.cpp:"));
  EXPECT_NE(use_of(uses, "dot_general"), nullptr) << "in the loop's body";
}

class Assessments : public ::testing::Test {
 protected:
  Option option(const std::string& name, int64_t nodes, const std::string& model = "llama-7b") {
    const Device& device = hardware.at(name);
    return consider(named_model(model), device, nodes,
                    read_calibration(calibration_path(device.calibrated_as())), market);
  }
  Assessment from_p4d(const graph::Function& step, const Situation& situation = {}) {
    return assess(step, option("p4d.24xlarge", 16), option("trn1.32xlarge", 16), market, situation);
  }
  Hardware hardware;
  Market market{.run = {.tokens = 1e12}};
};

TEST_F(Assessments, AnUnsupportedOperatorDecidesAndIsNamed) {
  const Assessment with = from_p4d(products()), without = from_p4d(with_loop());
  EXPECT_TRUE(with.is_supported());
  EXPECT_NE(with.verdict.advice, Advice::kStay);
  EXPECT_FALSE(without.is_supported());
  EXPECT_EQ(without.verdict.advice, Advice::kStay);
  EXPECT_THAT(without.verdict.reasons.at(0),
              AllOf(HasSubstr("while is unsupported"), HasSubstr("assessment_test.cpp:")));
  EXPECT_THAT(without.verdict.reasons.back(), HasSubstr("after a rewrite: "));
  EXPECT_NEAR(without.migration.weeks, with.migration.weeks + kRewriteWeeks, 1e-9);
  EXPECT_EQ(without.thresholds.at(0).at_most, Advice::kStay);
  EXPECT_EQ(with.thresholds.at(0).at_most, Advice::kMove);
}

TEST_F(Assessments, TheStrictestThresholdIsTheVerdict) {
  for (const Situation& situation :
       {Situation{}, Situation{.project_months = 2}, Situation{.monthly_budget = 40e3},
        Situation{.monthly_budget = 100e3}, Situation{.monthly_budget = 900e3},
        Situation{.project_months = 3.5}, Situation{.custom_architecture = true}}) {
    const Assessment a = from_p4d(products(), situation);
    Advice strictest = Advice::kMove;
    for (const Threshold& t : a.thresholds) strictest = std::min(strictest, t.at_most);
    EXPECT_EQ(strictest, a.verdict.advice)
        << situation.project_months << " months, $" << situation.monthly_budget;
  }
}

TEST_F(Assessments, FiguresFollowFromBothSides) {
  const Option from = option("p4d.24xlarge", 16), to = option("trn1.32xlarge", 16);
  const Assessment a = assess(products(), from, to, market, {});
  EXPECT_DOUBLE_EQ(a.migration.saving_per_run, from.offers[0].cost - to.offers[0].cost);
  // At the break-even speed a run costs the same on both.
  EXPECT_NEAR(to.offers[0].cost * to.outlook->tokens_per_s / a.break_even_tokens_per_s,
              from.offers[0].cost, 1);
  EXPECT_LT(a.weeks_low, a.migration.weeks);
  EXPECT_GT(a.weeks_high, a.migration.weeks);
  ASSERT_EQ(a.stages.size(), 4U);
  EXPECT_DOUBLE_EQ(a.stages[0].cost, 3 * market.engineer_week_cost);
  EXPECT_DOUBLE_EQ(a.stages[1].cost, 48 * 21.5);
  EXPECT_DOUBLE_EQ(a.stages[3].cost, to.offers[0].cost);
  EXPECT_THAT(a.risks, Contains(HasSubstr("30 to 60 minutes")));
  EXPECT_THAT(a.risks, Not(Contains(HasSubstr("times as long"))));
  const Assessment small = assess(products(), from, option("trn1.32xlarge", 2), market, {});
  EXPECT_THAT(small.risks, Contains(HasSubstr("times as long on the target: use more nodes")));
}

TEST_F(Assessments, RefuseWhatIsNoMoveAndWhatDoesNotFit) {
  const Option p4d = option("p4d.24xlarge", 16), trn1 = option("trn1.32xlarge", 16);
  const auto refusal = [&](const Option& from, const Option& to) {
    return message_of([&] { assess(products(), from, to, market, {}); });
  };
  EXPECT_THAT(refusal(trn1, p4d), HasSubstr("hum plan compare"));
  EXPECT_THAT(refusal(p4d, option("p5.48xlarge", 8)), HasSubstr("from NVIDIA GPUs to another"));
  EXPECT_THAT(refusal(p4d, option("trn1.32xlarge", 1, "gpt3-175b")),
              AllOf(HasSubstr("does not fit into trn1.32xlarge:1"), HasSubstr("nodes are enough")));
}

}  // namespace
}  // namespace hum::plan
