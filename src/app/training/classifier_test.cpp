// The preset classifier learns presets from sound alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "models/preset_classifier/model.h"
#include "runtime/testing.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

using runtime::HostTensor;

constexpr int64_t kBatch = 8, kSamples = 8192;
constexpr int64_t kSteps = 25;

// Clips of a sine (0) and of a square wave (1), of any pitch and level.
std::vector<HostTensor> batch_of(int64_t step) {
  Rng rng(1, "sine or square", static_cast<uint64_t>(step));
  HostTensor audio({graph::DType::kF32, {kBatch, kSamples}});
  HostTensor preset({graph::DType::kI32, {kBatch}});
  for (int64_t b = 0; b < kBatch; ++b) {
    const bool is_square = rng.chance(0.5);
    preset.as<int32_t>()[static_cast<size_t>(b)] = is_square ? 1 : 0;
    const double hz = rng.uniform(100, 800), level = rng.uniform(0.01, 0.5);
    for (int64_t i = 0; i < kSamples; ++i) {
      const double wave = std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / 22050);
      audio.as<float>()[static_cast<size_t>(b * kSamples + i)] =
          static_cast<float>(level * (is_square ? std::copysign(1, wave) : wave));
    }
  }
  return {audio, preset};
}

TEST(PresetClassifierTraining, TellsASineFromASquareWave) {
  models::preset_classifier::PresetClassifierConfig config;
  config.presets = {"sine", "square"};
  config.bands = 32;
  config.width = 32;
  config.blocks = 2;
  const models::preset_classifier::PresetClassifier model(config);
  const auto spec = model.train_spec({.batch = kBatch, .samples = kSamples});
  train::OptimizerConfig optimizer;
  optimizer.learning_rate = 2e-3;
  optimizer.warm_up_steps = 5;
  train::Trainer trainer(runtime::test_session(), spec, optimizer, kSteps, 1);
  const auto& names = trainer.scalar_names();
  const auto accuracy_at =
      static_cast<size_t>(std::ranges::find(names, "accuracy") - names.begin());
  ASSERT_LT(accuracy_at, names.size());
  double loss = 0, accuracy = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto result = trainer.run(step, batch_of(step));
    if (step == 0) {
      EXPECT_NEAR(result.scalars[0], std::log(2.0), 0.3);
    }
    if (step < kSteps - 5) continue;
    loss += result.scalars[0] / 5;
    accuracy += result.scalars[accuracy_at] / 5;
  }
  EXPECT_LT(loss, 0.3);
  EXPECT_GE(accuracy, 0.95);
}

}  // namespace
}  // namespace hum::app
