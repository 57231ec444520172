// The optimizer against a double-precision reference, and its learning rate.
#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::train {
namespace {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

TEST(LearningRate, WarmsUpThenFallsAsACosine) {
  OptimizerConfig config;
  config.learning_rate = 1;
  config.final_learning_rate = 0.1;
  config.warm_up_steps = 10;
  EXPECT_NEAR(learning_rate_at(config, 0, 110), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate_at(config, 9, 110), 1, 1e-12);
  EXPECT_NEAR(learning_rate_at(config, 59, 110), 0.55, 1e-12);
  EXPECT_NEAR(learning_rate_at(config, 109, 110), 0.1, 1e-12);
}

// 20 of 100 steps of decay, as 1 - sqrt.
TEST(LearningRate, StaysAndThenFallsUnderWsd) {
  OptimizerConfig config;
  config.learning_rate = 1;
  config.final_learning_rate = 0.1;
  config.warm_up_steps = 10;
  config.schedule = Schedule::kWsd;
  config.decay_share = 0.2;
  EXPECT_NEAR(learning_rate_at(config, 4, 100), 0.5, 1e-12);
  for (const int64_t step : {9, 40, 79}) EXPECT_EQ(learning_rate_at(config, step, 100), 1) << step;
  EXPECT_NEAR(learning_rate_at(config, 84, 100), 0.1 + 0.9 * (1 - std::sqrt(0.25)), 1e-12);
  EXPECT_NEAR(learning_rate_at(config, 99, 100), 0.1, 1e-12);
  config.decay_share = 1;  // from the end of the warm-up
  EXPECT_EQ(learning_rate_at(config, 9, 100), 1);
  EXPECT_NEAR(learning_rate_at(config, 54, 100), 0.1 + 0.9 * (1 - std::sqrt(0.5)), 1e-12);
  config.decay_share = 0;
  EXPECT_EQ(learning_rate_at(config, 99, 100), 1) << "constant to the end";
}

TEST(AdamW, MatchesADoublePrecisionReference) {
  OptimizerConfig config;
  config.weight_decay = 0.1;
  config.clip_norm = 0.5;
  auto parameter = [](const char* name) { return graph::parameter(name, {DType::kF32, {2, 2}}); };
  const Value p = parameter("p"), m = parameter("m"), v = parameter("v"), g = parameter("g");
  const Value step = graph::constant(3, {DType::kF32, {}}),
              rate = graph::constant(0.01, {DType::kF32, {}});
  const auto update = optimizer_update(config, {{p}, {m}, {v}}, {g}, step, rate);
  const std::vector<float> values[4] = {
      {1, -2, 0.5f, 3}, {0.1f, 0, -0.2f, 0.3f}, {0.01f, 0.02f, 0.03f, 0.04f}, {1, -1, 2, 0.5f}};
  std::vector<HostTensor> inputs;
  for (const auto& list : values)
    inputs.push_back(HostTensor::of({2, 2}, std::span<const float>(list)));
  const auto out =
      runtime::evaluate({update.state.parameters[0], update.gradient_norm}, {p, m, v, g}, inputs);
  double norm = 0;
  for (const float x : values[3]) norm += double{x} * x;
  norm = std::sqrt(norm);
  EXPECT_NEAR(out[1].as<float>()[0], norm, 1e-5);
  for (size_t i = 0; i < 4; ++i) {
    const double gradient = values[3][i] * 0.5 / (norm + 1e-6);
    const double mean = values[1][i] * 0.9 + gradient * 0.1;
    const double square = values[2][i] * 0.99 + gradient * gradient * 0.01;
    const double direction =
        mean / (1 - std::pow(0.9, 3)) / (std::sqrt(square / (1 - std::pow(0.99, 3))) + 1e-8) +
        0.1 * values[0][i];
    EXPECT_NEAR(out[0].as<float>()[i], values[0][i] - 0.01 * direction, 1e-6);
  }
}

TEST(AdamW, GradientNormsOfMillionsOfElementsAreExact) {
  const graph::Shape shape{DType::kF32, {4096, 512}};
  const Value p = graph::parameter("p", shape), m = graph::parameter("m", shape),
              v = graph::parameter("v", shape), g = graph::parameter("g", shape);
  const auto update =
      optimizer_update({}, {{p}, {m}, {v}}, {g}, graph::constant(1, {DType::kF32, {}}),
                       graph::constant(0.01, {DType::kF32, {}}));
  const auto gradient = runtime::golden_tensor(1, "g", shape.dims, {1, 0});
  const std::vector<HostTensor> inputs = {HostTensor(shape), HostTensor(shape), HostTensor(shape),
                                          gradient};
  const auto norm = runtime::evaluate({update.gradient_norm}, {p, m, v, g}, inputs)[0];
  double squares = 0;
  for (const float x : gradient.as<float>()) squares += double{x} * double{x};
  EXPECT_NEAR(norm.as<float>()[0] / std::sqrt(squares), 1, 1e-6);
}

}  // namespace
}  // namespace hum::train
