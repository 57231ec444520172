// The residual quantizer in both forms: more books reduce the error, codebooks follow the data,
// gradients pass.
#include "models/codec/quantizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "runtime/testing.h"

namespace hum::models::codec {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kBatch = 4, kFrames = 32, kLatent = 6;

HostTensor random_latents(uint64_t seed) {
  Rng rng(seed, "quantizer-test");
  std::vector<float> values(kBatch * kFrames * kLatent);
  for (float& value : values) value = static_cast<float>(rng.normal());
  return HostTensor::of({kBatch, kFrames, kLatent}, std::span<const float>(values));
}

class Quantizer : public ::testing::TestWithParam<QuantizerKind> {
 protected:
  Quantizer()
      : config{.kind = GetParam(), .books = 3, .entries = 32, .cosine_dim = 4, .warm_up_steps = 0},
        quantizer(nn::Scope(list), config, kLatent) {
    for (const auto& parameter : list.all()) {
      const auto values = nn::initial_elements(parameter, 1);
      state.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
    }
  }
  ResidualQuantizer::Training train(const Value& z, const nn::StepInputs& step) const {
    return quantizer.train(z, kept_books(kBatch, config.books, config.books, step), step);
  }
  // Runs training steps, keeping the buffers; returns the last step's results: mean squared error,
  // usage.
  std::pair<double, double> follow(int steps, uint64_t seed) {
    const Value z = graph::parameter("z", {DType::kF32, {kBatch, kFrames, kLatent}});
    const Value step = graph::parameter("step", {DType::kI32, {}});
    const Value key = graph::parameter("key", {DType::kU32, {2}});
    const auto trained = train(z, {.step = step, .key = key});
    const Value error = z - quantizer.decode(quantizer.encode(z), config.books);
    graph::Values results = {graph::mean_all(error * error),
                             trained.usage ? trained.usage : trained.loss};
    for (const auto& parameter : list.all()) {
      Value updated = parameter.value;
      for (const auto& [buffer, value] : trained.buffer_updates) {
        if (buffer == parameter.value) updated = value;
      }
      results.push_back(updated);
    }
    graph::Values parameters = list.values();
    parameters.insert(parameters.end(), {z, step, key});
    graph::Function function{.parameters = parameters, .results = results};
    auto program = runtime::test_session().compile("quantizer-test", function);
    std::pair<double, double> last;
    for (int i = 0; i < steps; ++i) {
      auto inputs = state;
      inputs.push_back(random_latents(seed));
      inputs.push_back(HostTensor::scalar<int32_t>(i));
      inputs.push_back(HostTensor::of<uint32_t>({2}, {7, static_cast<uint32_t>(i)}));
      auto out = program.run(std::span<const HostTensor>(inputs));
      last = {out[0].as<float>()[0], out[1].as<float>()[0]};
      for (size_t p = 0; p < state.size(); ++p) state[p] = out[p + 2];
    }
    return last;
  }

  QuantizerConfig config;
  nn::ParameterList list;
  ResidualQuantizer quantizer;
  std::vector<HostTensor> state;
};

TEST_P(Quantizer, DecodesSumsOfTheChosenVectors) {
  const Value z = graph::parameter("z", {DType::kF32, {kBatch, kFrames, kLatent}});
  const Value codes = quantizer.encode(z);
  Value sum = quantizer.decode(codes, 1);
  for (int64_t k = 1; k < config.books; ++k) {
    sum = sum + quantizer.lookup(k, graph::squeeze(graph::slice_in_dim(codes, 2, k, k + 1), {2}));
  }
  graph::Values parameters = list.values();
  parameters.push_back(z);
  auto inputs = state;
  inputs.push_back(random_latents(2));
  const auto out =
      runtime::evaluate({sum, quantizer.decode(codes, config.books)}, parameters, inputs);
  EXPECT_EQ(out[0].to_floats(), out[1].to_floats());
}

TEST_P(Quantizer, GradientsPassStraightThrough) {
  const Value z = graph::parameter("z", {DType::kF32, {kBatch, kFrames, kLatent}});
  const Value step = graph::constant(10, {DType::kI32, {}});
  const std::vector<double> words = {1, 2};
  const Value key = graph::constant(std::span<const double>(words), {DType::kU32, {2}});
  const auto trained = train(z, {.step = step, .key = key});
  const Value gradient = graph::gradients(graph::sum_all(trained.latents_BTD), graph::Values{z})[0];
  graph::Values parameters = list.values();
  parameters.push_back(z);
  auto inputs = state;
  inputs.push_back(random_latents(2));
  for (const float g : runtime::evaluate({gradient}, parameters, inputs)[0].to_floats()) {
    EXPECT_EQ(g, 1.0f);
  }
}

TEST_P(Quantizer, CodebooksFollowTheDataAndAreUsed) {
  if (GetParam() != QuantizerKind::kEuclidean) GTEST_SKIP() << "running means are of one form";
  const auto [first, unused] = follow(1, 3);
  const auto [last, usage] = follow(60, 3);
  EXPECT_LT(last, 0.4 * first);
  EXPECT_GT(usage, 0.6);  // 0.66 to 0.68 measured; without restarts books collapse
}

INSTANTIATE_TEST_SUITE_P(Kinds, Quantizer,
                         ::testing::Values(QuantizerKind::kEuclidean, QuantizerKind::kCosine));

}  // namespace
}  // namespace hum::models::codec
