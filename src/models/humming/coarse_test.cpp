// The coarse LM: published sizes, generation against teacher forcing, conditions that matter.
#include "models/humming/coarse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/fields_json.h"
#include "base/folders.h"
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

// What differs from run to run is an input: a program is compiled once.
struct Inputs {
  graph::Values parameters;
  std::vector<HostTensor> tensors;

  Value take(const char* name, HostTensor tensor) {
    parameters.push_back(graph::parameter(name, tensor.shape()));
    tensors.push_back(std::move(tensor));
    return parameters.back();
  }
  // One value an item.
  Value real(const char* name, const std::vector<double>& x) {
    const std::vector<float> values(x.begin(), x.end());
    return take(name, HostTensor::of({std::ssize(x)}, std::span<const float>(values)));
  }
  Value whole(const char* name, const std::vector<int64_t>& x) {
    const std::vector<int32_t> values(x.begin(), x.end());
    return take(name, HostTensor::of({std::ssize(x)}, std::span<const int32_t>(values)));
  }
  // An item for each seed of a melody.
  Conditions conditions(const std::vector<uint64_t>& melody_seeds, double has_melody,
                        double has_timbre) {
    const int64_t items = std::ssize(melody_seeds);
    auto each = [&](graph::Dims dims, auto seed_of) {
      std::vector<float> values;
      for (const uint64_t seed : melody_seeds) {
        const auto item = random_tensor(dims, seed_of(seed)).to_floats();
        values.insert(values.end(), item.begin(), item.end());
      }
      dims.insert(dims.begin(), items);
      return HostTensor::of(dims, std::span<const float>(values));
    };
    auto same = [](uint64_t seed) { return [seed](uint64_t) { return seed; }; };
    const auto count = melody_seeds.size();
    return {.melody_BTM = take("melody", each({kFrames, kFeatures}, std::identity())),
            .reference_BSD = take("reference", each({kReference, 8}, same(3))),
            .reference_frames_B = whole("reference_frames", std::vector<int64_t>(count, 15)),
            .has_melody_B = real("has_melody", std::vector<double>(count, has_melody)),
            .has_timbre_B = real("has_timbre", std::vector<double>(count, has_timbre)),
            .draft_BTD = take("draft", each({kFrames, 8}, same(2)))};
  }
  std::vector<HostTensor> run(const graph::Values& results) const {
    // Programs that are kept are found again by the session.
    static auto& kept = *new std::vector<runtime::Executable>;
    kept.push_back(runtime::test_session().compile(
        "test", {.name = "test", .parameters = parameters, .results = results}));
    return kept.back().run(tensors);
  }
};

class CoarseGeneration : public ::testing::TestWithParam<Kind> {
 protected:
  CoarseGeneration() : model(small(GetParam())), weights(lively_weights(model.parameters())) {}

  struct Draw {
    double temperature = 0;
    uint32_t seed = 1;
    uint64_t melody_seed = 1;
    int64_t frames = kFrames;
    double melody_guidance = 1;
    std::optional<double> timbre_guidance = {};
    int64_t guided_frames = kFrames;
  };
  std::vector<int32_t> generate(const Draw& draw) const { return generate_all({draw})[0]; }

  // As items of one batch; all or none have a guidance of the timbre's own.
  std::vector<std::vector<int32_t>> generate_all(const std::vector<Draw>& draws) const {
    auto each = [&](auto member) {
      std::vector<std::decay_t<decltype(draws[0].*member)>> values;
      for (const Draw& draw : draws) values.push_back(draw.*member);
      return values;
    };
    std::vector<double> timbre_guidance;
    std::vector<uint32_t> keys;
    for (const Draw& draw : draws) {
      if (draw.timbre_guidance) timbre_guidance.push_back(*draw.timbre_guidance);
      keys.insert(keys.end(), {1, draw.seed});
    }
    const int64_t items = std::ssize(draws);
    Inputs in{model.parameters().values(), weights};
    const Conditions conditions = in.conditions(each(&Draw::melody_seed), 1, 1);
    const Value codes = model.generate(
        conditions,
        {.key_B2 = in.take("key", HostTensor::of({items, 2}, std::span<const uint32_t>(keys))),
         .temperature_B = in.real("temperature", each(&Draw::temperature)),
         .top_k_B = in.whole("top_k", std::vector<int64_t>(draws.size(), 32)),
         .top_p_B = in.real("top_p", std::vector<double>(draws.size(), 1)),
         .melody_guidance_B = in.real("melody_guidance", each(&Draw::melody_guidance)),
         .timbre_guidance_B =
             timbre_guidance.empty() ? Value{} : in.real("timbre_guidance", timbre_guidance),
         .guided_frames_B = in.whole("guided_frames", each(&Draw::guided_frames)),
         .frames_B = in.whole("frames", each(&Draw::frames))},
        DType::kF32);
    const auto result = in.run({codes})[0];
    const auto values = result.as<int32_t>();
    const size_t size = values.size() / draws.size();
    std::vector<std::vector<int32_t>> rows;
    for (size_t at = 0; at < values.size(); at += size) {
      rows.emplace_back(values.begin() + static_cast<long>(at),
                        values.begin() + static_cast<long>(at + size));
    }
    return rows;
  }

  // Teacher-forced on `codes`, knowing some conditions. -> K of [L, V].
  std::vector<std::vector<float>> logits(std::span<const int32_t> codes, double has_melody,
                                         double has_timbre) const {
    Inputs in{model.parameters().values(), weights};
    const Conditions conditions = in.conditions({1}, has_melody, has_timbre);
    const Value forced = in.take("codes", HostTensor::of({1, kFrames, GetParam().books}, codes));
    std::vector<std::vector<float>> result;
    for (const auto& tensor : in.run(model.logits(forced, conditions, DType::kF32))) {
      result.push_back(tensor.to_floats());
    }
    return result;
  }

  // That each token of `codes` is the likeliest after those before it, guided by hand.
  void expect_likeliest(std::span<const int32_t> codes, double melody_guidance,
                        double timbre_guidance, int64_t guided_frames) const {
    const auto none = logits(codes, 0, 0), timbre = logits(codes, 0, 1), both = logits(codes, 1, 1);
    const int64_t books = GetParam().books;
    for (int64_t k = 0; k < books; ++k) {
      const auto book = static_cast<size_t>(k);
      for (int64_t t = 0; t < kFrames; ++t) {
        const double m = t < guided_frames ? melody_guidance : 1;
        const double s = t < guided_frames ? timbre_guidance : 1;
        std::vector<double> row;
        for (auto at = static_cast<size_t>((t + k) * 33); row.size() < 32; ++at) {
          const double n = none[book][at], of_timbre = timbre[book][at];
          row.push_back(n + s * (of_timbre - n) + m * (both[book][at] - of_timbre));
        }
        const auto best = std::ranges::max_element(row) - row.begin();
        EXPECT_EQ(best, codes[static_cast<size_t>(t * books + k)])
            << "frame " << t << " book " << k;
      }
    }
  }

  Coarse model;
  std::vector<HostTensor> weights;
};

TEST_P(CoarseGeneration, GreedyTokensAreTheTeacherForcedLikeliest) {
  expect_likeliest(generate({}), 1, 1, kFrames);
}

TEST_P(CoarseGeneration, GuidanceMixesTheLogitsOfWhatIsKnown) {
  const auto plain = generate({}), both = generate({.melody_guidance = 3});
  const auto melody = generate({.melody_guidance = 3, .timbre_guidance = 1});
  const auto timbre = generate({.melody_guidance = 1, .timbre_guidance = 4});
  expect_likeliest(both, 3, 3, kFrames);
  expect_likeliest(melody, 3, 1, kFrames);
  expect_likeliest(timbre, 1, 4, kFrames);
  EXPECT_NE(both, plain);
  EXPECT_NE(melody, both);
  EXPECT_NE(melody, timbre);
}

TEST_P(CoarseGeneration, EqualScalesAreOneScaleAndScalesOfOneAreNoGuidance) {
  for (const double scale : {1.0, 2.5}) {
    const Draw one{.temperature = 1, .melody_guidance = scale};
    Draw two = one;
    two.timbre_guidance = scale;
    EXPECT_EQ(generate(one), generate(two)) << scale;
  }
  EXPECT_EQ(generate({.temperature = 1, .melody_guidance = 1}),
            generate({.temperature = 1, .melody_guidance = 2.5, .guided_frames = 0}));
}

TEST_P(CoarseGeneration, OnlyTheFirstFramesAreGuidedWhereThatIsAsked) {
  const auto some = generate({.melody_guidance = 3, .guided_frames = 4});
  expect_likeliest(some, 3, 3, 4);
  EXPECT_NE(some, generate({.melody_guidance = 3}));
}

TEST_P(CoarseGeneration, ItemsOfABatchAreThoseOfEachAlone) {
  const std::vector<Draw> draws = {
      {.temperature = 1, .seed = 5, .melody_guidance = 2},
      {.temperature = 0.5, .seed = 6, .melody_seed = 9, .frames = kFrames / 2},
      {.melody_seed = 4, .melody_guidance = 3, .guided_frames = 4},
      {.temperature = 1, .seed = 5, .melody_guidance = 2}};
  const auto together = generate_all(draws);
  for (size_t i = 0; i < draws.size(); ++i) EXPECT_EQ(together[i], generate(draws[i])) << i;
  EXPECT_NE(together[0], together[1]);
}

TEST_P(CoarseGeneration, SeedsAndMelodiesChangeTheTokens) {
  const Draw five{.temperature = 1, .seed = 5};
  EXPECT_EQ(generate(five), generate(five));
  EXPECT_NE(generate(five), generate({.temperature = 1, .seed = 6}));
  EXPECT_NE(generate({}), generate({.melody_seed = 9}));
}

TEST_P(CoarseGeneration, FewerFramesAreTheSameFrames) {
  const auto all = generate({.temperature = 1, .seed = 5});
  const auto some = generate({.temperature = 1, .seed = 5, .frames = kFrames / 2});
  const auto count = static_cast<int64_t>(all.size()) / 2;
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + count, some.begin()));
  EXPECT_EQ(std::count(some.begin() + count, some.end(), 32), count) << "not asked for";
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

TEST(Coarse, LosesTheDraftWithTheTimbreIfTold) {
  const auto first_logits = [](bool follows, double has_timbre, uint64_t draft_seed) {
    CoarseConfig config = small({1, ConditioningKind::kAligned});
    config.draft_follows_timbre = follows;
    const Coarse model(config);
    Inputs in{model.parameters().values(), lively_weights(model.parameters())};
    Conditions conditions = in.conditions({1}, 1, has_timbre);
    conditions.draft_BTD = in.take("other", random_tensor({1, kFrames, 8}, draft_seed));
    const Value codes = in.take("codes", HostTensor({DType::kI32, {1, kFrames, 1}}));
    return in.run(model.logits(codes, conditions, DType::kF32))[0].to_floats();
  };
  for (const bool follows : {false, true}) {
    EXPECT_NE(first_logits(follows, 1, 5), first_logits(follows, 1, 6));
    EXPECT_EQ(first_logits(follows, 0, 5) == first_logits(follows, 0, 6), follows);
  }
}

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
