// Passes: what is merged, what is not, and that results stay what they were.
#include "graph/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/op.h"
#include "graph/ops.h"
#include "graph/stablehlo/print.h"
#include "runtime/testing.h"

namespace hum::graph {
namespace {

const Shape kVector{DType::kF32, {4}};

size_t count(const Function& function, std::string_view op) {
  size_t found = 0;
  for (const Node* node : topological_order(function.results)) found += node->op().name == op;
  return found;
}

TEST(CommonSubexpressions, AreComputedOnce) {
  const Value x = parameter("x", kVector), y = parameter("y", kVector);
  const Function function{.parameters = {x, y},
                          .results = {tanh(x * 2.0) + tanh(y * 2.0), tanh(x * 2.0) * 3.0}};
  const Function merged = run_passes(function).function;
  EXPECT_EQ(count(function, "tanh"), 3u);
  EXPECT_EQ(count(merged, "tanh"), 2u);
  EXPECT_EQ(count(merged, "constant"), 2u);
  const std::vector inputs{runtime::HostTensor::of<float>({4}, {1, 2, 3, 4}),
                           runtime::HostTensor::of<float>({4}, {4, 3, 2, 1})};
  EXPECT_EQ(runtime::run_once(function, inputs), runtime::run_once(merged, inputs));
}

TEST(CommonSubexpressions, KeepApartWhatDiffersInAnAttributeOrAnElement) {
  const Value x = parameter("x", kVector);
  const std::vector<float> a = {1, 2, 3, 4}, b = {1, 2, 3, 5};
  const auto table = [](const std::vector<float>& values) {
    return constant(std::span<const float>(values), {4});
  };
  const Function function{.parameters = {x},
                          .results = {slice_in_dim(x, 0, 0, 2), slice_in_dim(x, 0, 1, 3), table(a),
                                      table(b), table(a)}};
  const Function merged = run_passes(function).function;
  EXPECT_EQ(count(merged, "slice"), 2u);
  EXPECT_EQ(count(merged, "constant"), 2u);
}

TEST(CommonSubexpressions, AreMergedInsideLoopsToo) {
  const Value x = parameter("x", kVector);
  const Values y = while_loop(
      Values{x}, [](auto carry) { return sum_all(carry[0]) < 10; },
      [](auto carry) { return Values{exponential(carry[0]) + exponential(carry[0])}; });
  const Function function{.parameters = {x}, .results = y};
  const auto exponentials = [](const Function& f) {
    const std::string text = print_module(f);
    size_t found = 0;
    for (size_t at = text.find("exponential"); at != std::string::npos;
         at = text.find("exponential", at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(exponentials(function), 2u);
  EXPECT_EQ(exponentials(run_passes(function).function), 1u);
}

TEST(CommonSubexpressions, LeaveRecomputationAlone) {
  const Value x = parameter("x", kVector), w = parameter("w", kVector);
  const Value y = checkpoint(RecomputePolicy::kFull, Values{x},
                             [&](std::span<const Value> in) { return Values{tanh(in[0] * w)}; })[0];
  const Function function{.parameters = {x, w}, .results = gradients(sum_all(y * y), Values{x, w})};
  const std::string text = print_module(run_passes(function).function);
  EXPECT_NE(text.find("tanh"), text.rfind("tanh"));
}

TEST(Passes, AreReportedAndSkippedByName) {
  const Value x = parameter("x", kVector);
  const Function function{.parameters = {x}, .results = {tanh(x) + tanh(x)}};
  const auto report = run_passes(function).reports.at(0);
  EXPECT_EQ(report.name, "common_subexpressions");
  EXPECT_EQ(report.nodes_before, 4u);
  EXPECT_EQ(report.nodes_after, 3u);
  ::setenv("HUM_SKIP_PASS", "other,common_subexpressions", 1);
  const PassedFunction skipped = run_passes(function);
  ::unsetenv("HUM_SKIP_PASS");
  EXPECT_TRUE(skipped.reports.at(0).skipped);
  EXPECT_EQ(count(skipped.function, "tanh"), 2u);
}

}  // namespace
}  // namespace hum::graph
