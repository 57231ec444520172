// The coarse LM: published sizes, generation against teacher forcing, conditions that matter.
#include "models/humming/coarse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/rng.h"
#include "runtime/testing.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using runtime::HostTensor;

struct Kind {
  int64_t books;
  ConditioningKind conditioning;
};

constexpr int64_t kFeatures = 6;

CoarseConfig small(const Kind& kind) {
  CoarseConfig config;
  config.common = {.latent = 8, .books = 4, .entries = 32, .melody_features = kFeatures};
  config.conditioning = kind.conditioning;
  config.transformer = {.layers = 2, .width = 32, .heads = 4, .kv_heads = 4, .feed_forward = 64};
  config.coarse_books = kind.books;
  config.vocabulary = 33;
  config.melody_blocks = 1;
  config.melody_width = 16;
  return config;
}

HostTensor random_tensor(const graph::Dims& dims, uint64_t seed) {
  Rng rng(seed, "coarse-test");
  std::vector<float> values(static_cast<size_t>(graph::Shape{DType::kF32, dims}.elements()));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return HostTensor::of(dims, std::span<const float>(values));
}

// Weights large enough that conditions and history change the likeliest token.
std::vector<HostTensor> lively_weights(const nn::ParameterList& list) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : list.all()) {
    auto values = nn::initial_elements(parameter, 3);
    const bool small_start = parameter.shape.rank() >= 2 &&
                             parameter.init.kind == nn::Init::Kind::kNormal &&
                             parameter.init.scale < 0.05;
    for (float& value : values) value *= small_start ? 12 : 1;
    tensors.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  return tensors;
}

constexpr int64_t kFrames = 14, kReference = 20;

class CoarseGeneration : public ::testing::TestWithParam<Kind> {
 protected:
  CoarseGeneration() : model(small(GetParam())), weights(lively_weights(model.parameters())) {}

  Coarse model;
  std::vector<HostTensor> weights;
  Value melody = graph::parameter("melody", {DType::kF32, {1, kFrames, kFeatures}});
  Value draft = graph::parameter("draft", {DType::kF32, {1, kFrames, 8}});
  Value reference = graph::parameter("reference", {DType::kF32, {1, kReference, 8}});
  Value frames = graph::parameter("frames", {DType::kI32, {1}});
  Value one = graph::constant(1, {DType::kF32, {1}});

  Conditions conditions() const { return {melody, reference, frames, one, one, draft}; }
  graph::Values parameters() const {
    graph::Values all = model.parameters().values();
    all.insert(all.end(), {melody, draft, reference, frames});
    return all;
  }
  std::vector<HostTensor> inputs(uint64_t melody_seed) const {
    std::vector<HostTensor> all = weights;
    all.push_back(random_tensor({1, kFrames, kFeatures}, melody_seed));
    all.push_back(random_tensor({1, kFrames, 8}, 2));
    all.push_back(random_tensor({1, kReference, 8}, 3));
    all.push_back(HostTensor::of<int32_t>({1}, {15}));
    return all;
  }
  std::vector<int32_t> generate(double temperature, uint32_t seed, uint64_t melody_seed = 1,
                                int64_t asked_frames = kFrames) const {
    auto scalar = [](double x, DType type) { return graph::constant(x, {type, {}}); };
    const std::vector<double> key = {1, static_cast<double>(seed)};
    const Value codes =
        model.generate(conditions(),
                       {.key = graph::constant(std::span<const double>(key), {DType::kU32, {2}}),
                        .temperature = scalar(temperature, DType::kF32),
                        .top_k = scalar(32, DType::kI32),
                        .top_p = scalar(1, DType::kF32),
                        .guidance = scalar(1, DType::kF32),
                        .frames = scalar(static_cast<double>(asked_frames), DType::kI32)},
                       DType::kF32);
    const auto result = runtime::evaluate({codes}, parameters(), inputs(melody_seed))[0];
    const auto values = result.as<int32_t>();
    return {values.begin(), values.end()};
  }
};

TEST_P(CoarseGeneration, GreedyTokensAreTheTeacherForcedLikeliest) {
  const int64_t books = GetParam().books;
  const std::vector<int32_t> codes = generate(0, 1);
  std::vector<int32_t> all(static_cast<size_t>(kFrames * 4));
  for (int64_t t = 0; t < kFrames; ++t) {
    for (int64_t k = 0; k < books; ++k) {
      all[static_cast<size_t>(t * 4 + k)] = codes[static_cast<size_t>(t * books + k)];
    }
  }
  const Value forced = graph::slice_in_dim(
      graph::constant(std::span<const int32_t>(all), {1, kFrames, 4}), 2, 0, books);
  const auto logits =
      runtime::evaluate(model.logits(forced, conditions(), DType::kF32), parameters(), inputs(1));
  for (int64_t k = 0; k < books; ++k) {
    const auto values = logits[static_cast<size_t>(k)].as<float>();
    for (int64_t t = 0; t < kFrames; ++t) {
      const auto row = values.subspan(static_cast<size_t>((t + k) * 33), 32);
      const auto best = std::ranges::max_element(row) - row.begin();
      EXPECT_EQ(best, codes[static_cast<size_t>(t * books + k)]) << "frame " << t << " book " << k;
    }
  }
}

TEST_P(CoarseGeneration, SeedsAndMelodiesChangeTheTokens) {
  EXPECT_EQ(generate(1, 5), generate(1, 5));
  EXPECT_NE(generate(1, 5), generate(1, 6));
  EXPECT_NE(generate(0, 1, 1), generate(0, 1, 9));
}

TEST_P(CoarseGeneration, FewerFramesAreTheSameFrames) {
  const auto all = generate(1, 5), some = generate(1, 5, 1, kFrames / 2);
  const auto count = static_cast<int64_t>(all.size()) / 2;
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + count, some.begin()));
  EXPECT_EQ(some.back(), 32) << "a frame that was not asked for";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CoarseGeneration,
    ::testing::Values(Kind{1, ConditioningKind::kAligned}, Kind{3, ConditioningKind::kAligned},
                      Kind{1, ConditioningKind::kPrefix}, Kind{3, ConditioningKind::kPrefix}),
    [](const auto& test) {
      return fmt::format(
          "{}Books{}", test.param.books,
          test.param.conditioning == ConditioningKind::kAligned ? "Aligned" : "Prefix");
    });

TEST(CoarseSizes, AreThePublishedOnes) {
  auto core = [](const char* file) {
    const Json yaml = read_yaml(source_folder() / "configs" / file);
    CoarseConfig config;
    from_json(yaml.at("model"), config);
    return Coarse(config).core_parameters();
  };
  EXPECT_EQ(core("coarse-10b.yaml"), 10'077'945'856);
  EXPECT_NEAR(static_cast<double>(core("coarse-385m.yaml")), 385e6, 3.85e6);
}

}  // namespace
}  // namespace hum::models::humming
