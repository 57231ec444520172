// The upsampler: the input of each stage, the pooled reference, the program against the graph.
#include "models/humming/upsampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/fields_json.h"
#include "base/rng.h"
#include "models/humming/latent_predictor.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kBatch = 2, kFrames = 5, kReference = 6, kLatent = 4, kMelody = 3;
const UpsamplerConfig kConfig{
    .common = {.latent = kLatent, .books = 4, .entries = 16, .melody_features = kMelody},
    .width = 16,
    .blocks = 2,
    .classified_books = 3};

HostTensor random_tensor(const graph::Dims& dims, uint64_t seed) {
  Rng rng(seed, "upsampler-test");
  std::vector<float> values(static_cast<size_t>(graph::Shape{DType::kF32, dims}.elements()));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return HostTensor::of(dims, std::span<const float>(values));
}

// Codes in [0, 16).
HostTensor random_codes() {
  Rng rng(4, "upsampler-test codes");
  HostTensor codes({DType::kI32, {kBatch, kFrames, 4}});
  for (int32_t& code : codes.as<int32_t>()) code = static_cast<int32_t>(rng.integer(0, 15));
  return codes;
}

// In the order of the parameters.
std::vector<HostTensor> random_weights(const Upsampler& model) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : model.parameters().all()) {
    tensors.push_back(random_tensor(parameter.shape.dims, tensors.size()));
    for (float& value : tensors.back().as<float>()) value *= 0.2F;
  }
  return tensors;
}

struct Inputs {
  HostTensor stages = HostTensor::of<int32_t>({kBatch}, {0, 2}), codes = random_codes(),
             melody = random_tensor({kBatch, kFrames, kMelody}, 101),
             reference = random_tensor({kBatch, kReference, kLatent}, 102),
             reference_frames = HostTensor::of<int32_t>({kBatch}, {6, 3});
};

struct Placeholders {
  Value stages = graph::parameter("stages", {DType::kI32, {kBatch}}),
        codes = graph::parameter("codes", {DType::kI32, {kBatch, kFrames, 4}}),
        melody = graph::parameter("melody", {DType::kF32, {kBatch, kFrames, kMelody}}),
        reference = graph::parameter("reference", {DType::kF32, {kBatch, kReference, kLatent}}),
        frames = graph::parameter("frames", {DType::kI32, {kBatch}});
};

HostTensor run(const Upsampler& model, const Value& result, const Placeholders& p,
               const Inputs& in) {
  graph::Values parameters = model.parameters().values();
  parameters.insert(parameters.end(), {p.stages, p.codes, p.melody, p.reference, p.frames});
  auto inputs = random_weights(model);
  for (const auto& tensor : {in.stages, in.codes, in.melody, in.reference, in.reference_frames}) {
    inputs.push_back(tensor);
  }
  return runtime::evaluate({result}, parameters, inputs)[0];
}

TEST(Upsampler, AStageKnowsThatManyBooks) {
  const Upsampler model(kConfig);
  const Placeholders p;
  const auto known = run(model, model.known(p.codes, p.stages), p, {});
  const auto two = run(model, model.decode(p.codes, 2), p, {});
  const size_t item = kFrames * kLatent;
  for (size_t i = 0; i < item; ++i) {
    EXPECT_EQ(known.as<float>()[i], 0) << "stage 0 knows nothing";
    EXPECT_FLOAT_EQ(known.as<float>()[item + i], two.as<float>()[item + i]);
  }
}

TEST(Upsampler, PoolsTheFramesThatAreThere) {
  const Upsampler model(kConfig);
  const Placeholders p;
  const Inputs in;
  const auto pooled = run(model, pooled_reference(p.reference, p.frames), p, in);
  ASSERT_EQ(pooled.shape().dims, (graph::Dims{kBatch, 2 * kLatent}));
  for (int64_t b = 0; b < kBatch; ++b) {
    const int32_t frames = in.reference_frames.as<int32_t>()[static_cast<size_t>(b)];
    for (int64_t d = 0; d < kLatent; ++d) {
      double sum = 0, squares = 0;
      for (int64_t s = 0; s < frames; ++s) {
        const double x =
            in.reference.as<float>()[static_cast<size_t>((b * kReference + s) * kLatent + d)];
        sum += x / frames;
        squares += x * x / frames;
      }
      const auto row = pooled.as<float>().subspan(static_cast<size_t>(b * 2 * kLatent));
      EXPECT_NEAR(row[static_cast<size_t>(d)], sum, 1e-5);
      EXPECT_NEAR(row[static_cast<size_t>(kLatent + d)], std::sqrt(squares - sum * sum + 1e-5),
                  1e-4);
    }
  }
}

TEST(LatentPredictor, RunsTheStoredUpsampler) {
  const Upsampler model(kConfig);
  const auto tensors = random_weights(model);
  UpsamplerConfig config = kConfig;
  runtime::Weights stored{.config = {{"model_type", "hum-upsampler"}, {"model", to_json(config)}},
                          .tensors = {}};
  for (size_t i = 0; i < tensors.size(); ++i) {
    stored.tensors.emplace_back(model.parameters().all()[i].name, tensors[i]);
  }
  const auto folder = std::filesystem::path(::testing::TempDir()) / "upsampler-test";
  runtime::write_weights(folder, stored, DType::kF32);
  const LatentPredictor predictor(runtime::test_session(), folder, kBatch, kFrames, kReference);
  EXPECT_EQ(predictor.last_stage(), 3);

  const Inputs in;
  const auto predicted =
      predictor.predict(in.stages, in.codes, in.melody, in.reference, in.reference_frames);
  const Placeholders p;
  const auto expected = run(model,
                            model
                                .predict(model.known(p.codes, p.stages), p.melody,
                                         pooled_reference(p.reference, p.frames), p.stages)
                                .latents_BTD,
                            p, in);
  ASSERT_EQ(predicted.shape(), expected.shape());
  for (size_t i = 0; i < predicted.as<float>().size(); ++i) {
    EXPECT_NEAR(predicted.as<float>()[i], expected.as<float>()[i], 1e-5);
  }
}

}  // namespace
}  // namespace hum::models::humming
