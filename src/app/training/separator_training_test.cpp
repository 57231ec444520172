// The separator learns: stems of noise and tones, made here.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/fields_json.h"
#include "base/rng.h"
#include "models/separator/model.h"
#include "models/testing.h"
#include "runtime/testing.h"
#include "train/training_step.h"

namespace hum::app {
namespace {

using models::separator::Architecture;
using models::separator::kChannels;
using models::separator::kStemCount;
using runtime::HostTensor;

constexpr int64_t kBatch = 2, kSamples = 20 * 128;

// Each stem is a tone in another range, with noise in the first stem. Shapes: stems, mixture.
std::vector<HostTensor> drawn_batch(int64_t step) {
  Rng rng(4, "stems", static_cast<uint64_t>(step));
  HostTensor stems({graph::DType::kF32, {kBatch, kStemCount, kChannels, kSamples}});
  HostTensor mixture({graph::DType::kF32, {kBatch, kChannels, kSamples}});
  auto stem = stems.as<float>();
  for (int64_t item = 0; item < kBatch * kStemCount; ++item) {
    const double hz = 200 * std::exp2(static_cast<double>(item % kStemCount) + rng.uniform(0, 0.5));
    const double level = rng.uniform(0.05, 0.2);
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      const auto row = mixture.as<float>().subspan(
          static_cast<size_t>((item / kStemCount * kChannels + channel) * kSamples), kSamples);
      for (size_t i = 0; i < static_cast<size_t>(kSamples); ++i) {
        const double phase = 2 * std::numbers::pi * hz * static_cast<double>(i) / 44100;
        stem[i] = static_cast<float>(
            level * (item % kStemCount == 0 ? 0.2 * rng.normal() : std::sin(phase)));
        row[i] += stem[i];
      }
      stem = stem.subspan(static_cast<size_t>(kSamples));
    }
  }
  return {stems, mixture};
}

class SeparatorTraining : public ::testing::TestWithParam<Architecture> {};

TEST_P(SeparatorTraining, LowersTheLoss) {
  models::separator::SeparatorConfig config;
  from_json(models::tiny_config("separator"), config);
  config.architecture = GetParam();
  const models::separator::Separator model(config);
  constexpr int64_t kSteps = 60;
  const train::OptimizerConfig optimizer{
      .learning_rate = 5e-3, .final_learning_rate = 5e-3, .warm_up_steps = 1};
  train::Trainer trainer(runtime::test_session(),
                         model.train_spec({.batch = kBatch, .samples = kSamples}), optimizer,
                         kSteps, /*seed=*/1);
  double first = 0, last = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    const double loss = trainer.run(step, drawn_batch(step)).scalars.at(0);
    ASSERT_TRUE(std::isfinite(loss));
    if (step < 5) first += loss / 5;
    if (step >= kSteps - 5) last += loss / 5;
  }
  EXPECT_LT(last, 0.6 * first);
}

INSTANTIATE_TEST_SUITE_P(Separator, SeparatorTraining,
                         ::testing::Values(Architecture::kBandSplit, Architecture::kConvNext),
                         [](const auto& test) {
                           return test.param == Architecture::kBandSplit ? "BandSplit" : "ConvNext";
                         });

}  // namespace
}  // namespace hum::app
