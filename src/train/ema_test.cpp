// Running means of the weights: against a plain loop, in checkpoints, and in what a run releases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "runtime/testing.h"
#include "train/checkpoint.h"
#include "train/loop.h"
#include "train/testing/hidden_layers.h"

namespace hum::train {
namespace {

namespace fs = std::filesystem;
using runtime::HostTensor;
using testing::by_name;
using testing::hidden_batch;
using testing::HiddenLayers;

OptimizerConfig ema_config(double ema) {
  return {.learning_rate = 0.05, .final_learning_rate = 0.05, .warm_up_steps = 2, .ema = ema};
}

bool is_buffer(const std::string& name) { return name == "counter"; }

TEST(Ema, IsTheMeanOfAPlainLoop) {
  constexpr double kDecay = 0.3;  // the warm-up ends at the fourth step
  const HiddenLayers model;
  Trainer trainer(runtime::test_session(), model.spec(), ema_config(kDecay), 6, 1);
  std::map<std::string, std::vector<double>> means;
  for (const auto& [name, tensor] : trainer.parameters()) {
    const auto values = tensor.to_floats();
    means[name].assign(values.begin(), values.end());
  }
  for (int64_t step = 0; step < 6; ++step) {
    trainer.run(step, hidden_batch(step));
    const auto t = static_cast<double>(step);
    const double decay = std::min(kDecay, (1 + t) / (10 + t));
    for (const auto& [name, tensor] : trainer.parameters()) {
      const auto values = tensor.to_floats();
      for (size_t i = 0; i < values.size(); ++i) {
        means[name][i] = decay * means[name][i] + (1 - decay) * double{values[i]};
      }
    }
  }
  const auto raw = by_name(trainer.parameters());
  for (const auto& [name, tensor] : trainer.released_parameters()) {
    const auto released = tensor.to_floats();
    if (is_buffer(name)) {
      EXPECT_EQ(tensor, raw.at(name)) << "a buffer is not averaged";
      continue;
    }
    EXPECT_FALSE(tensor == raw.at(name)) << name;
    for (size_t i = 0; i < released.size(); ++i) {
      EXPECT_NEAR(released[i], means[name][i], 1e-6) << name;
    }
  }
}

TEST(Ema, ChangesNoWeightAndWithoutItThereIsNone) {
  const HiddenLayers model;
  Trainer plain(runtime::test_session(), model.spec(), ema_config(0), 3, 1);
  Trainer averaging(runtime::test_session(), model.spec(), ema_config(0.99), 3, 1);
  for (int64_t step = 0; step < 3; ++step) {
    plain.run(step, hidden_batch(step));
    averaging.run(step, hidden_batch(step));
  }
  const auto with = by_name(averaging.state());
  size_t averages = 0;
  for (const auto& [name, tensor] : with) averages += name.starts_with("e.") ? 1 : 0;
  EXPECT_EQ(averages, 4U) << "the trained parameters";
  EXPECT_EQ(with.size(), plain.state().size() + averages);
  for (const auto& [name, tensor] : plain.state()) EXPECT_EQ(tensor, with.at(name)) << name;
  EXPECT_EQ(by_name(plain.released_parameters()), by_name(plain.parameters()));
}

TEST(Ema, StartsAtTheWeightsThatTrainingStartsFrom) {
  const HiddenLayers model;
  Trainer first(runtime::test_session(), model.spec(), ema_config(0), 3, 1);
  first.run(0, hidden_batch(0));
  Trainer second(runtime::test_session(), model.spec(), ema_config(0.9), 3, 2);
  second.load(first.parameters(), /*whole=*/false);
  EXPECT_EQ(by_name(second.released_parameters()), by_name(first.parameters()));
}

TEST(Ema, IsF32BesideWeightsInBf16) {
  const HiddenLayers model{.stacked = true};
  OptimizerConfig config = ema_config(0.9);
  config.weights = WeightsType::kBF16;
  Trainer trainer(runtime::test_session(), model.spec(), config, 2, 1);
  trainer.run(0, hidden_batch(0));
  const auto state = by_name(trainer.state());
  EXPECT_EQ(state.at("p.layers.0.weight").dtype(), graph::DType::kBF16);
  EXPECT_EQ(state.at("e.layers.0.weight").dtype(), graph::DType::kF32);
  EXPECT_EQ(trainer.validate(1, 0, hidden_batch(0)).size(), 2U);
}

// All that a run keeps between steps: AdamW's and Muon's moments, running means, the schedule's
// place, a stack.
TEST(Ema, AndMuonResumeBitForBit) {
  const HiddenLayers model{.stacked = true};
  LoopConfig config;
  config.steps = 17;
  config.checkpoint_every = 5;
  config.validate_every = 4;
  config.validation_batches = 2;
  config.optimizer = ema_config(0.9);
  config.optimizer.kind = OptimizerKind::kMuon;
  config.optimizer.schedule = Schedule::kWsd;
  config.optimizer.decay_share = 0.5;
  const fs::path root = fs::temp_directory_path() / fmt::format("hum-ema-{}", ::getpid());
  fs::remove_all(root);
  const auto run = [&](const char* name, int64_t stop_after) {
    int64_t polled = 0;
    return run_training(
        runtime::test_session(), model.spec(), config,
        [](int64_t step) { return hidden_batch(step); },
        {.run = root / name,
         .config = {},
         .should_stop = [&] { return ++polled == stop_after; },
         .held_out = {[](int64_t index) { return hidden_batch(index, "held out"); }, 2}});
  };
  const auto whole = run("whole", -1);
  EXPECT_FALSE(run("part", 11).finished);
  const auto resumed = run("part", -1);
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(by_name(whole.parameters), by_name(resumed.parameters));
  EXPECT_EQ(whole.validation_loss, resumed.validation_loss);
  const auto kept = latest_checkpoint(root / "whole"),
             kept_by_part = latest_checkpoint(root / "part");
  EXPECT_EQ(by_name(kept->state), by_name(kept_by_part->state));
  EXPECT_EQ(by_name(kept->state).at("e.layers.1.weight"),
            by_name(whole.parameters).at("layers.1.weight"))
      << "the running mean is released";
  fs::remove_all(root);
}

}  // namespace
}  // namespace hum::train
