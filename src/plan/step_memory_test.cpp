// Memory of a step from its graph, in cases that can be counted by hand.
#include "plan/step_memory.h"

#include <gtest/gtest.h>

#include "graph/memory/estimate.h"
#include "graph/ops.h"
#include "graph/ops/place_as.h"
#include "graph/passes/passes.h"

namespace hum::plan {
namespace {

using graph::DType;
using graph::Value;

constexpr int64_t kWidth = 64, kInner = 256;
constexpr double kMatrix = 4.0 * kWidth * kInner;  // bytes

bool no_kernels(const graph::Node&) { return false; }

// Two products with their optimizer's moments. The update divides by a norm over all gradients, so
// both gradients are alive at once.
TracedStep two_layers(int64_t rows, int devices = 1) {
  const auto f32 = [](const char* name, graph::Dims dims) {
    return graph::parameter(name, {DType::kF32, std::move(dims)});
  };
  const graph::Values weights = {f32("up", {kWidth, kInner}), f32("down", {kInner, kWidth})};
  const graph::Values moments = {f32("m.up", {kWidth, kInner}), f32("m.down", {kInner, kWidth})};
  const Value x = f32("x", {rows, kWidth});
  const Value y = matmul(tanh(matmul(x, weights[0])), weights[1]);
  const Value loss = mean_all((y - x) * (y - x));
  const graph::Values own = graph::gradients(loss, weights);
  graph::Values gradients = own;
  const graph::Mesh mesh{.data = devices};
  if (devices > 1) {
    for (Value& g : gradients) {
      g = place_as(g, {.axes = {graph::kPartial, graph::kReplicated}});
    }
    gradients = mean_over(gradients, graph::Axis::kData, mesh);
  }
  const Value norm = sum_all(gradients[0] * gradients[0]) + sum_all(gradients[1] * gradients[1]);
  TracedStep step{.weights = 2, .moments = 2, .gradients = 2};
  graph::Function& function = step.function;
  function.mesh = mesh;
  function.parameters = {weights[0], weights[1], moments[0], moments[1], x};
  for (size_t i = 0; i < 2; ++i) function.results.push_back(weights[i] - gradients[i] / norm);
  for (size_t i = 0; i < 2; ++i) function.results.push_back(moments[i] + gradients[i] / norm);
  function.results.push_back(loss);
  for (int i = 0; i < 4; ++i) function.donations.push_back({i, i});
  function.results.insert(function.results.end(), own.begin(), own.end());
  return step;
}

TEST(StepMemory, OfAFewRowsIsStateAndGradients) {
  const Memory memory = memory_per_device(two_layers(1), no_kernels);
  EXPECT_EQ(memory.weights, 2 * kMatrix);
  EXPECT_EQ(memory.optimizer, 2 * kMatrix);
  EXPECT_EQ(memory.gradients, 2 * kMatrix);
  EXPECT_EQ(memory.collectives, 0);
  EXPECT_NEAR(memory.activations + memory.temporaries, kMatrix, 0.01 * kMatrix)
      << "squares for the norm";
}

TEST(StepMemory, OfManyRowsIsWhatTheBackwardPassReads) {
  constexpr int64_t kRows = 8192;
  const Memory memory = memory_per_device(two_layers(kRows), no_kernels);
  const double narrow = 4.0 * kRows * kWidth, wide = 4.0 * kRows * kInner;
  EXPECT_GE(memory.activations, narrow + wide) << "x, and tanh's result";
  EXPECT_GE(memory.temporaries, wide) << "the cotangent of tanh's result";
  EXPECT_LT(memory.activations + memory.temporaries, 4 * (narrow + wide));
  EXPECT_LE(memory.gradients, 2 * kMatrix);
}

TEST(StepMemory, AllReducesGiveArraysOfTheirOwn) {
  const Memory memory = memory_per_device(two_layers(1, 4), no_kernels);
  EXPECT_GE(memory.collectives, kMatrix);
  EXPECT_GE(memory.gradients + memory.collectives, 2 * kMatrix);
  EXPECT_NEAR(memory.gradients + memory.collectives + memory.temporaries, 3 * kMatrix,
              0.01 * kMatrix)
      << "two gradients and a mean, or one and two means, or two means and squares for the norm";
  EXPECT_EQ(memory.weights + memory.optimizer, 4 * kMatrix) << "every device has all state";
}

TEST(StepMemory, IsTheGraphsEstimateTakenApart) {
  for (const int64_t rows : {1, 64, 8192}) {
    const TracedStep step = two_layers(rows);
    graph::Function function = step.function;
    function.results.resize(function.results.size() - step.gradients);
    const auto estimate = graph::estimate_memory(graph::run_passes(function).function, no_kernels);
    EXPECT_EQ(memory_per_device(step, no_kernels).total(),
              static_cast<double>(estimate.total_bytes()))
        << rows;
  }
}

}  // namespace
}  // namespace hum::plan
