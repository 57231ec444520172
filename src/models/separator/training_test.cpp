// The separator learns: stems of noise and tones, made here.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/fields_json.h"
#include "base/rng.h"
#include "models/separator/model.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::models::separator {
namespace {

using runtime::HostTensor;

constexpr int64_t kBatch = 2, kSamples = 20 * 128;

// Each stem is a tone in a different octave, the first one noise. Shapes: stems, mixture.
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

// Returns the loss and the parameters after a step against the signs of the gradients.
graph::Function signed_step(const Separator& model, double rate) {
  const auto spec = model.train_spec({.batch = kBatch, .samples = kSamples});
  graph::Function step{.name = "step", .parameters = model.parameters().values()};
  Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  const Value loss = spec.loss(batch, {}).total;
  step.results = {loss};
  const Values gradients = graph::gradients(loss, step.parameters);
  for (size_t i = 0; i < gradients.size(); ++i) {
    step.results.push_back(step.parameters[i] - rate * graph::sign(gradients[i]));
  }
  step.parameters.insert(step.parameters.end(), batch.begin(), batch.end());
  return step;
}

class SeparatorTraining : public ::testing::TestWithParam<Architecture> {};

TEST_P(SeparatorTraining, LowersTheLoss) {
  SeparatorConfig config;
  from_json(models::tiny_config("separator"), config);
  config.architecture = GetParam();
  const Separator model(config);
  runtime::Session& session = runtime::test_session();
  const auto program = session.compile("separator/step", signed_step(model, 2e-3));
  std::vector<runtime::Tensor> state;
  for (const auto& parameter : model.parameters().all()) {
    const auto values = nn::initial_elements(parameter, 1);
    state.push_back(
        session.to_device(HostTensor::of(parameter.shape.dims, std::span<const float>(values))));
  }
  constexpr int64_t kSteps = 80;
  double first = 0, last = 0;
  for (int64_t step = 0; step < kSteps; ++step) {
    std::vector<runtime::Tensor> inputs = state;
    for (const HostTensor& array : drawn_batch(step)) inputs.push_back(session.to_device(array));
    auto results = program.run(inputs);
    const double loss = session.to_host(results[0]).to_floats()[0];
    ASSERT_TRUE(std::isfinite(loss));
    if (step < 5) first += loss / 5;
    if (step >= kSteps - 5) last += loss / 5;
    state.assign(results.begin() + 1, results.end());
  }
  RecordProperty("loss", fmt::format("{:.3f} to {:.3f}", first, last));
  EXPECT_LT(last, 0.7 * first) << "from " << first << " to " << last;
}

INSTANTIATE_TEST_SUITE_P(Separator, SeparatorTraining,
                         ::testing::Values(Architecture::kBandSplit, Architecture::kConvNext),
                         [](const auto& test) {
                           return test.param == Architecture::kBandSplit ? "BandSplit" : "ConvNext";
                         });

}  // namespace
}  // namespace hum::models::separator
