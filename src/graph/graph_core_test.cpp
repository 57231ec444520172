// The graph without any op family: sharing, capture, printing, gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/function.h"
#include "graph/ops.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using ::testing::HasSubstr;

const Shape kMatrix{DType::kF32, {2, 3}};

TEST(Graph, PrintsEqualTextForEqualGraphs) {
  auto build = [] {
    const Value x = parameter("x", kMatrix);
    const Value y = exponential(x * 2.0 + 1);
    return print_module({.parameters = {x}, .results = {y}});
  };
  EXPECT_EQ(build(), build());
  EXPECT_THAT(build(), HasSubstr("\"stablehlo.exponential\""));
}

TEST(Graph, LeavesOutWhatNoResultNeeds) {
  const Value x = parameter("x", kMatrix);
  const Value unused = tanh(x);
  EXPECT_THAT(print_module({.parameters = {x}, .results = {x + 1}}), Not(HasSubstr("tanh")));
}

TEST(Graph, ErrorsNameShapesAndTheCallersLine) {
  const Value x = parameter("x", kMatrix);
  const Value y = parameter("y", {DType::kF32, {2, 4}});
  try {
    x + y;
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("add: f32[2,3] and f32[2,4] do not broadcast"));
  }
  try {
    sqrt(parameter("n", {DType::kI32, {2}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sqrt: needs f32 or bf16, not i32[2]"));
    EXPECT_THAT(error.what(), HasSubstr("at graph_core_test.cpp:"));
  }
}

TEST(Graph, RefusesAParameterThatIsNotListed) {
  const Value x = parameter("x", kMatrix), y = parameter("y", kMatrix);
  EXPECT_THROW(print_module({.parameters = {x}, .results = {x + y}}), Error);
}

TEST(Gradients, OfAnUnusedParameterAreZeros) {
  const Value x = parameter("x", kMatrix), y = parameter("y", kMatrix);
  const Value loss = reduce_sum(x * x, {0, 1});
  const Values grads = gradients(loss, Values{x, y});
  EXPECT_EQ(grads[1].shape(), kMatrix);
  EXPECT_THAT(print_module({.parameters = {x, y}, .results = grads}), HasSubstr("multiply"));
}

TEST(Checkpoint, RecomputesBehindABarrier) {
  const Value x = parameter("x", kMatrix), w = parameter("w", kMatrix);
  auto f = [&](std::span<const Value> in) { return Values{tanh(in[0] * w)}; };
  const Value y = checkpoint(RecomputePolicy::kFull, Values{x}, f)[0];
  const Values grads = gradients(reduce_sum(y * y, {0, 1}), Values{x, w});
  const std::string text = print_module({.parameters = {x, w}, .results = grads});
  EXPECT_THAT(text, HasSubstr("optimization_barrier"));
  size_t count = 0;
  for (size_t at = text.find("tanh"); at != std::string::npos; at = text.find("tanh", at + 1))
    ++count;
  EXPECT_EQ(count, 2u);
}

TEST(Graph, LongChainsAreFreedWithoutRecursion) {
  Value x = parameter("x", kMatrix);
  for (int i = 0; i < 200000; ++i) x = -x;
  x = Value();
}

}  // namespace
}  // namespace hum::graph
