// Passes: what is merged, what is not, and that results stay what they were.
#include "graph/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

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

// The function's values before and after the passes, bit for bit.
void expect_same_values(const Function& function, const std::vector<runtime::HostTensor>& inputs) {
  const Function passed = run_passes(function).function;
  EXPECT_EQ(runtime::run_once(function, inputs), runtime::run_once(passed, inputs));
}

std::vector<runtime::HostTensor> vector_input() {
  return {runtime::HostTensor::of<float>({4}, {1.5, -2, 3, 0.1F})};
}

TEST(Algebraic, LeavesOutWhatGivesItsInputBack) {
  const Value x = parameter("x", kVector);
  const Value ones = broadcast_to(constant(1, {DType::kF32, {}}), {4});
  const Value matrix = reshape(x, {2, 2});
  const Values same = {
      x + 0.0,
      0.0 + x,
      x - 0.0,
      x * ones,
      ones * x,
      x / 1.0,
      -(-x),
      maximum(x, x),
      select(x > 0, x, x),
      select(constant(1, {DType::kI1, {4}}), x, ones),
      convert(convert(convert(x, DType::kBF16), DType::kF32), DType::kBF16),
      reshape(transpose(transpose(matrix, {1, 0}), {1, 0}), {4}),
      pad_in_dim(x, 0, 0, 0, 0),
      slice_in_dim(x, 0, 0, 4),
      stop_gradient(x),
      reverse(reverse(x, {0}), {0}),
  };
  const Function function{.parameters = {x}, .results = same};
  const Function passed = run_passes(function).function;
  // The sixteen results, one of them rounded to bf16 once.
  EXPECT_EQ(topological_order(passed.results).size(), 2u) << print_module(passed);
  expect_same_values(function, vector_input());
}

TEST(Algebraic, LeavesOutIdentities) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Value x = parameter("x", kVector), i = parameter("i", {DType::kI32, {4}});
  const Values same = {maximum(x, -kInfinity),
                       minimum(kInfinity, x),
                       power(x, 1),
                       maximum(i, -2147483648.0),
                       i & -1,
                       -1 & i,
                       i | 0,
                       0 ^ i,
                       shift_left(i, 0),
                       shift_right_logical(i, 0),
                       shift_right_arithmetic(i, 0)};
  const Values others = {0 - i, 1 / x, shift_left(0, i), power(1, x), i & 1, maximum(x, 0)};
  Values all = same;
  all.insert(all.end(), others.begin(), others.end());
  const Function function{.parameters = {x, i}, .results = all};
  const Function passed = run_passes(function).function;
  for (size_t r = 0; r < all.size(); ++r) {
    EXPECT_EQ(is_parameter(passed.results[r].node()), r < same.size()) << "result " << r;
  }
  expect_same_values(function, {vector_input()[0],
                                runtime::HostTensor::of<int32_t>({4}, {3, -1, -2147483647, 0})});
}

TEST(Algebraic, KeepsWhatChangesAValue) {
  const Value x = parameter("x", kVector);
  const std::vector<float> steps = {1, 1, 1, 2};
  const Function function{
      .parameters = {x},
      .results = {x * constant(std::span<const float>(steps), {4}), 0.0 - x, 1.0 / x, x * 0.0,
                  convert(convert(x, DType::kBF16), DType::kF32),
                  convert(convert(x, DType::kI32), DType::kF32)}};
  const Function passed = run_passes(function).function;
  for (const Value& result : passed.results) EXPECT_NE(result, x);
  expect_same_values(function, vector_input());
}

TEST(Algebraic, JoinsChainsOfBroadcastsAndReshapes) {
  const Value x = parameter("x", kVector);
  const Value y = broadcast_in_dim(broadcast_in_dim(x, {3, 4}, {1}), {2, 3, 4}, {1, 2});
  const Value z = reshape(reshape(reshape(x, {2, 2}), {1, 4}), {4, 1});
  const Function function{.parameters = {x},
                          .results = {y, z, transpose(transpose(y, {2, 0, 1}), {1, 0, 2})}};
  const Function passed = run_passes(function).function;
  EXPECT_EQ(count(passed, "broadcast_in_dim"), 1u);
  EXPECT_EQ(count(passed, "reshape"), 1u);
  EXPECT_EQ(count(passed, "transpose"), 1u);
  expect_same_values(function, vector_input());
}

size_t printed(const Function& function, std::string_view text) {
  const std::string module = print_module(function);
  size_t found = 0;
  for (size_t at = module.find(text); at != std::string::npos; at = module.find(text, at + 1)) {
    ++found;
  }
  return found;
}

TEST(DeadCode, CarriesThatFeedOnlyThemselvesLeaveALoop) {
  const Value x = parameter("x", kVector), w = parameter("w", kVector);
  const Values y = while_loop(
      Values{x, tanh(w), x}, [](auto carry) { return sum_all(carry[2]) < 100; },
      [&](auto carry) {
        return Values{carry[0] + 1, sine(carry[1] * w), carry[2] + carry[2]};
      });
  const Function function{.parameters = {x, w}, .results = {y[0]}};
  const Function passed = run_passes(function).function;
  EXPECT_EQ(printed(function, "sine"), 1u);
  EXPECT_EQ(printed(passed, "sine"), 0u);
  EXPECT_EQ(printed(passed, "tanh"), 0u) << "it made the dead carry's first value";
  EXPECT_EQ(passed.results[0].node().inputs().size(), 2u);
  const auto v = vector_input()[0];
  expect_same_values(function, {v, v});
}

TEST(DeadCode, ScansKeepOnlyWhatIsRead) {
  const Value x = parameter("x", {DType::kF32, {3, 4}}), w = parameter("w", kVector);
  const auto result = scan(3, Values{w, w}, Values{x, exponential(x)}, [&](const ScanStep& step) {
    const Value next = step.carry[0] + step.xs[0];
    return ScanResult{{next, step.carry[1] * step.xs[1]}, {tanh(next), sine(step.xs[1])}};
  });
  const Function function{.parameters = {x, w}, .results = {result.ys[0]}};
  const Function passed = run_passes(function).function;
  EXPECT_EQ(printed(passed, "sine"), 0u);
  EXPECT_EQ(printed(passed, "exponential"), 0u);
  const Node& node = passed.results[0].node();
  EXPECT_EQ(node.inputs().size(), 2u);
  EXPECT_EQ(node.output_count(), 2);
  std::vector<float> values(12);
  for (size_t i = 0; i < 12; ++i) values[i] = 0.1F * static_cast<float>(i);
  const auto matrix = runtime::HostTensor::of({3, 4}, std::span<const float>(values));
  expect_same_values(function, {matrix, vector_input()[0]});
}

TEST(DeadCode, ResultsOfABlockThatNobodyReadsTakeTheirInputsAlong) {
  const Value x = parameter("x", kVector);
  const Values y = checkpoint(RecomputePolicy::kFull, Values{x, exponential(x)}, [](auto in) {
    return Values{tanh(in[0]), sine(in[1])};
  });
  const Function function{.parameters = {x}, .results = {y[0]}};
  EXPECT_EQ(printed(function, "exponential"), 1u);
  EXPECT_EQ(printed(run_passes(function).function, "exponential"), 0u);
  expect_same_values(function, vector_input());
}

// A block with a product, two norm-like parts and a score matrix.
Values toy_block(RecomputePolicy policy, const Value& x, const Value& w) {
  return checkpoint(policy, Values{x}, [&](std::span<const Value> in) {
    const Value y = matmul(tanh(in[0]), w);
    const Value scores = dot_general(
        reshape(y, {1, 4, 4}), reshape(y, {1, 4, 4}),
        {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {2}});
    return Values{in[0] + reshape(exponential(scores * 0.01), {4, 4})};
  });
}

TEST(Checkpoint, EveryPolicyGivesTheSameGradientsAndComputesAgainWhatItSays) {
  const Shape square{DType::kF32, {4, 4}};
  const Value x = parameter("x", square), w = parameter("w", square);
  std::vector<float> numbers(16);
  for (size_t i = 0; i < 16; ++i) numbers[i] = 0.3F - 0.05F * static_cast<float>(i);
  const auto matrix = runtime::HostTensor::of({4, 4}, std::span<const float>(numbers));
  const auto traced = [&](RecomputePolicy policy) {
    const Value y = toy_block(policy, toy_block(policy, x, w)[0], w)[0];
    const Value loss = sum_all(y * y);
    Values results = gradients(loss, Values{x, w});
    results.push_back(loss);
    return Function{.parameters = {x, w}, .results = results};
  };
  const Function none = run_passes(traced(RecomputePolicy::kNone)).function;
  const auto wanted = runtime::run_once(none, std::vector{matrix, matrix});
  const Function selective = run_passes(traced(RecomputePolicy::kSelective)).function;
  const Function full = run_passes(traced(RecomputePolicy::kFull)).function;
  EXPECT_EQ(runtime::run_once(selective, std::vector{matrix, matrix}), wanted);
  EXPECT_EQ(runtime::run_once(full, std::vector{matrix, matrix}), wanted);
  // Two forward, two more in the backward pass; products: four forward, eight in the backward.
  EXPECT_EQ(printed(none, "exponential"), 2u);
  EXPECT_EQ(printed(selective, "exponential"), 4u);
  EXPECT_EQ(printed(full, "exponential"), 4u);
  EXPECT_EQ(printed(none, "dot_general"), 12u);
  EXPECT_EQ(printed(selective, "dot_general"), 14u) << "the scores again, not the products";
  EXPECT_EQ(printed(full, "dot_general"), 16u);
}

TEST(Passes, AreReportedAndSkippedByName) {
  const Value x = parameter("x", kVector);
  const Function function{.parameters = {x}, .results = {tanh(x) + tanh(x)}};
  const auto report = run_passes(function).reports.at(1);
  EXPECT_EQ(report.name, "common_subexpressions");
  EXPECT_EQ(report.nodes_before, 4u);
  EXPECT_EQ(report.nodes_after, 3u);
  ::setenv("HUM_SKIP_PASS", "other,common_subexpressions", 1);
  const PassedFunction skipped = run_passes(function);
  ::unsetenv("HUM_SKIP_PASS");
  EXPECT_FALSE(skipped.reports.at(0).skipped);
  EXPECT_TRUE(skipped.reports.at(1).skipped);
  EXPECT_EQ(count(skipped.function, "tanh"), 2u);
}

}  // namespace
}  // namespace hum::graph
