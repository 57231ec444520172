// Weights in bf16: checkpoints restore them, neither the kernel nor stacking changes them, and
// training reaches the result of f32 weights, unlike with rounding to nearest.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "graph/ops.h"
#include "kernels/table.h"
#include "runtime/testing.h"
#include "train/checkpoint.h"
#include "train/loop.h"

namespace hum::train {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using graph::Value;
using runtime::HostTensor;

constexpr int64_t kRows = 32, kIn = 64, kOut = 96;

// y = x W0 W1 + b against the same with other, fixed matrices: two layers that a model may stack.
struct Toy {
  nn::ParameterList list;
  Value first = list.declare("layers.0.weight", {kIn, kIn}, nn::Init::normal(0.125));
  Value second = list.declare("layers.1.weight", {kIn, kIn}, nn::Init::normal(0.125));
  Value head = list.declare("head.weight", {kIn, kOut}, nn::Init::normal(0.125));
  Value bias = list.declare("head.bias", {kOut}, nn::Init::zeros());

  nn::TrainSpec spec(bool stacked = false) const {
    return {.name = "toy",
            .parameters = &list,
            .batch = {{"x", {DType::kF32, {kRows, kIn}}}, {"y", {DType::kF32, {kRows, kOut}}}},
            .loss = [this, stacked](
                        std::span<const Value> batch,
                        const nn::StepInputs&) { return nn::Loss{.total = loss(batch, stacked)}; },
            .units_per_batch = kRows};
  }

 private:
  Value loss(std::span<const Value> batch, bool stacked) const {
    graph::Values layers = {first, second};
    if (stacked) {
      const Value stack = graph::stack(layers, 0);
      for (int64_t i = 0; i < 2; ++i) {
        layers[static_cast<size_t>(i)] =
            graph::reshape(graph::slice_in_dim(stack, 0, i, i + 1), {kIn, kIn});
      }
    }
    Value x = batch[0];
    for (const Value& layer : layers) x = graph::matmul(x, layer);
    const Value error = graph::matmul(x, head) + bias - batch[1];
    return graph::mean_all(error * error);
  }
};

std::vector<HostTensor> toy_batch(int64_t step) {
  HostTensor x({DType::kF32, {kRows, kIn}}), y({DType::kF32, {kRows, kOut}});
  Rng rng(1, "toy", static_cast<uint64_t>(step));
  for (float& value : x.as<float>()) value = static_cast<float>(rng.normal());
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kOut; ++c) {
      const auto at = [&](int64_t i) { return x.as<float>()[static_cast<size_t>(r * kIn + i)]; };
      y.as<float>()[static_cast<size_t>(r * kOut + c)] =
          0.7F * at(c % kIn) - 0.4F * at((3 * c + 1) % kIn) + 0.1F;
    }
  }
  return {x, y};
}

OptimizerConfig bf16_config(double rate) {
  return {.learning_rate = rate,
          .final_learning_rate = rate,
          .warm_up_steps = 0,
          .weight_decay = 0,
          .weights = WeightsType::kBF16};
}

runtime::Session& kernel_session() {
  static auto* session = new runtime::Session({.kernels = kernels::table(),
                                               .use_kernel = kernels::available,
                                               .instruction_set = kernels::instruction_set()});
  return *session;
}

// The state after some steps, and the mean loss of the last ten.
struct Trained {
  std::vector<NamedTensor> state;
  double loss = 0;
};
Trained train(runtime::Session& session, const OptimizerConfig& config, int64_t steps,
              bool stacked = false) {
  const Toy toy;
  Trainer trainer(session, toy.spec(stacked), config, steps, 1);
  Trained trained;
  for (int64_t step = 0; step < steps; ++step) {
    const double loss = trainer.run(step, toy_batch(step)).scalars[0];
    if (step >= steps - 10) trained.loss += loss / 10;
  }
  trained.state = trainer.state();
  return trained;
}

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    const auto other = std::ranges::find(b, name, &NamedTensor::name);
    ASSERT_NE(other, b.end()) << name;
    EXPECT_TRUE(tensor == other->tensor) << name;
  }
}

TEST(BFloat16Weights, AreMatricesAloneWithMomentsInF32) {
  const auto trained = train(runtime::test_session(), bf16_config(1e-3), 10);
  ASSERT_EQ(trained.state.size(), 12U);
  for (const auto& [name, tensor] : trained.state) {
    const bool narrow = name.starts_with("p.") && tensor.shape().rank() == 2;
    EXPECT_EQ(tensor.dtype(), narrow ? DType::kBF16 : DType::kF32) << name;
  }
}

TEST(BFloat16Weights, AreTheSameWithTheKernelAndWithPlainOps) {
  expect_equal(train(runtime::test_session(), bf16_config(1e-3), 1).state,
               train(kernel_session(), bf16_config(1e-3), 1).state);
}

TEST(BFloat16Weights, DoNotDependOnStacking) {
  expect_equal(train(kernel_session(), bf16_config(1e-3), 1).state,
               train(kernel_session(), bf16_config(1e-3), 1, /*stacked=*/true).state);
}

TEST(BFloat16Weights, ResumeBitForBit) {
  const Toy toy;
  LoopConfig config;
  config.steps = 20;
  config.checkpoint_every = 7;
  config.optimizer = bf16_config(1e-3);
  const auto folder_of = [](const std::string& name) {
    return fs::temp_directory_path() / fmt::format("hum-bf16-{}-{}", ::getpid(), name);
  };
  for (const char* name : {"whole", "part"}) fs::remove_all(folder_of(name));
  auto run = [&](const std::string& name, int64_t stop_after) {
    int64_t polled = 0;
    const fs::path folder = folder_of(name);
    return run_training(
        kernel_session(), toy.spec(), config, toy_batch,
        {.run = folder, .config = {}, .should_stop = [&] { return ++polled == stop_after; }});
  };
  const auto whole = run("whole", -1);
  EXPECT_FALSE(run("part", 9).finished);
  const auto resumed = run("part", -1);
  EXPECT_TRUE(resumed.finished);
  expect_equal(whole.parameters, resumed.parameters);
}

// Updates of about 1e-4 are a fifth of half a unit in the last place of a weight of 0.125: lost,
// unless rounded stochastically.
TEST(BFloat16Weights, ArriveWhereF32WeightsDoAndRoundingToNearestStalls) {
  constexpr int64_t kSteps = 1500;
  OptimizerConfig config = bf16_config(1e-4);
  const double stochastic = train(kernel_session(), config, kSteps).loss;
  config.weights = WeightsType::kF32;
  const double master = train(kernel_session(), config, kSteps).loss;
  const Toy toy;
  Trainer nearest(kernel_session(), toy.spec(), config, kSteps, 1);
  double stalled = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const double loss = nearest.run(step, toy_batch(step)).scalars[0];
    if (step >= kSteps - 10) stalled += loss / 10;
    auto weights = nearest.parameters();
    for (auto& [name, tensor] : weights) {
      if (tensor.shape().rank() < 2) continue;
      tensor = HostTensor::from_floats(DType::kBF16, tensor.shape().dims, tensor.to_floats());
    }
    nearest.load(weights, /*whole=*/false);
  }
  EXPECT_LT(stochastic, 1.05 * master) << master;
  EXPECT_GT(stalled, 2 * master) << master;
}

}  // namespace
}  // namespace hum::train
