// The preset classifier learns presets from sound alone, also from copies and recordings of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/training/inputs.h"
#include "app/training/testing.h"
#include "app/training/train.h"
#include "base/error.h"
#include "base/rng.h"
#include "models/preset_classifier/model.h"
#include "runtime/testing.h"
#include "runtime/weights.h"
#include "train/checkpoint.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

using runtime::HostTensor;
using ::testing::FloatNear;
using ::testing::Pointwise;

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

class ChangedCrops : public testing::TrainingTest {
 protected:
  ChangedCrops() : TrainingTest(4) { models::write_tiny_weights(folder_ / "weights", "codec"); }

  ModelConfiguration configuration(double copied_share, double recorded_share) const {
    ModelConfiguration result = tiny("classifier", 3e-3);
    StageConfig& stage = result.stage;
    stage.weights = folder_ / "weights";
    stage.frames = 25;
    stage.held_out = 0;
    stage.copied_share = copied_share;
    stage.recorded_share = recorded_share;
    return result;
  }
  // Audio and labels.
  std::vector<HostTensor> batch(double copied_share, double recorded_share,
                                int64_t step = 0) const {
    const auto changed = configuration(copied_share, recorded_share);
    const auto model = changed.make();
    const auto spec = model->train_spec(changed.step_shape());
    return open_input({runtime::test_session(), changed, *model, spec}).batches(step);
  }
};

TEST_F(ChangedCrops, SoundDifferentAndKeepTheirLabels) {
  const auto plain = batch(0, 0), copied = batch(1, 0), recorded = batch(0, 1), both = batch(1, 1);
  for (const auto& changed : {copied, recorded, both}) {
    EXPECT_FALSE(changed[0] == plain[0]);
    EXPECT_TRUE(changed[1] == plain[1]);
  }
  EXPECT_FALSE(copied[0] == both[0]);
  // A resumed run gets the same, up to XLA's own small products: with more than one thread their
  // last bits change from call to call (jax-ml/jax issue 39741).
  EXPECT_THAT(batch(1, 1)[0].as<float>(), Pointwise(FloatNear(1e-6), both[0].as<float>()));
}

TEST_F(ChangedCrops, AreAShareOfAll) {
  int changed = 0;
  constexpr int kSteps = 12;
  for (int step = 0; step < kSteps; ++step) {
    const auto before = batch(0, 0, step)[0], after = batch(0, 0.5, step)[0];
    const auto size = before.as<float>().size() / 2;
    for (const size_t b : {size_t{0}, size_t{1}}) {
      changed += std::ranges::equal(before.as<float>().subspan(b * size, size),
                                    after.as<float>().subspan(b * size, size))
                     ? 0
                     : 1;
    }
  }
  EXPECT_NEAR(changed, kSteps, 7);
}

TEST_F(ChangedCrops, TrainAClassifierThatNamesThem) {
  const auto trained = [&](const char* name, double share, const Json& model) {
    ModelConfiguration changed = configuration(share, share);
    changed.model.update(model);
    changed.stage.run = folder_ / fmt::format("run-{}", name);
    changed.stage.output = folder_ / name;
    changed.stage.loop.steps = 2;
    EXPECT_EQ(train(changed, {}).summary.at("finished"), true);
    return train::latest_checkpoint(changed.stage.run)->config;
  };
  const Json robust = trained("robust", 0.5, {{"spacing", "octaves"}});
  EXPECT_EQ(robust.at("stage").at("copied_share"), 0.5);
  EXPECT_TRUE(robust.at("learned_from").contains("codec"));
  EXPECT_EQ(runtime::read_weights(folder_ / "robust").config.at("model").at("spacing"), "octaves");
  // As earlier releases recorded it.
  const Json plain = trained("plain", 0, Json::object());
  EXPECT_FALSE(plain.at("stage").contains("copied_share"));
  EXPECT_FALSE(plain.at("stage").contains("recorded_share"));
  EXPECT_FALSE(plain.at("learned_from").contains("codec"));
  EXPECT_FALSE(runtime::read_weights(folder_ / "plain").config.at("model").contains("spacing"));
}

TEST_F(ChangedCrops, HaveASharePossible) {
  EXPECT_THROW(validate(configuration(1.5, 0).stage), Error);
  EXPECT_THROW(validate(configuration(0, -0.1).stage), Error);
  EXPECT_NO_THROW(validate(configuration(1, 1).stage));
}

}  // namespace
}  // namespace hum::app
