// Layers against hand-written references, and step-by-step generation against whole sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "nn/layers.h"
#include "nn/sampling.h"
#include "nn/transformer.h"
#include "nn/waveform.h"
#include "runtime/testing.h"

namespace hum::nn {
namespace {

using graph::DType;
using runtime::evaluate;
using runtime::HostTensor;

HostTensor random_tensor(graph::Dims dims, uint64_t seed, double scale = 1) {
  Rng rng(seed, "nn-test");
  std::vector<float> values(static_cast<size_t>(graph::Shape{DType::kF32, dims}.elements()));
  for (float& value : values) value = static_cast<float>(rng.normal() * scale);
  return HostTensor::of(dims, std::span<const float>(values));
}

// The list's placeholders and their initial values, as inputs of a program.
std::vector<HostTensor> initial_values(const ParameterList& list, uint64_t seed = 1) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : list.all()) {
    const auto values = initial_elements(parameter, seed);
    tensors.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  return tensors;
}

float largest_difference(const HostTensor& a, const HostTensor& b) {
  const auto x = a.to_floats(), y = b.to_floats();
  float largest = 0;
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

TEST(ParameterList, InitialElementsDependOnTheNameAlone) {
  ParameterList one, two;
  one.declare("a.weight", {4, 3}, Init::normal(0.5));
  two.declare("other", {7}, Init::ones());
  two.declare("a.weight", {4, 3}, Init::normal(0.5));
  EXPECT_EQ(initial_elements(one.all()[0], 9), initial_elements(two.all()[1], 9));
  EXPECT_NE(initial_elements(one.all()[0], 9), initial_elements(one.all()[0], 10));
  EXPECT_THROW(one.declare("a.weight", {1}, Init::zeros()), Error);
}

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  ParameterList list;
  const Linear linear(Scope(list, "proj"), 3, 2);
  const Value x = graph::parameter("x", {DType::kF32, {5, 3}});
  auto inputs = initial_values(list);
  inputs[1] = HostTensor::of<float>({2}, {10, 20});
  inputs.push_back(random_tensor({5, 3}, 2));
  graph::Values parameters = list.values();
  parameters.push_back(x);
  const auto y = evaluate({linear(x)}, parameters, inputs)[0];
  const auto w = inputs[0].as<float>(), v = inputs[2].as<float>();
  for (size_t row = 0; row < 5; ++row) {
    for (size_t out = 0; out < 2; ++out) {
      double sum = out == 0 ? 10 : 20;
      for (size_t i = 0; i < 3; ++i) sum += double{v[row * 3 + i]} * w[out * 3 + i];
      EXPECT_NEAR(y.as<float>()[row * 2 + out], sum, 1e-5);
    }
  }
}

TEST(ConvNextBlock, CausalBlocksDoNotSeeTheFuture) {
  ParameterList list;
  const ConvNextBlock block(Scope(list, "block"),
                            {.width = 8, .hidden = 16, .kernel = 5, .causal = true});
  const Value x = graph::parameter("x", {DType::kF32, {1, 12, 8}});
  graph::Values parameters = list.values();
  parameters.push_back(x);
  auto inputs = initial_values(list);
  inputs.push_back(random_tensor({1, 12, 8}, 3));
  const auto before = evaluate({block(x)}, parameters, inputs)[0].to_floats();
  for (size_t i = 7 * 8; i < 12 * 8; ++i) inputs.back().as<float>()[i] += 5;
  const auto after = evaluate({block(x)}, parameters, inputs)[0].to_floats();
  for (size_t i = 0; i < 7 * 8; ++i) EXPECT_EQ(before[i], after[i]);
  EXPECT_NE(before[7 * 8], after[7 * 8]);
}

TEST(Waveform, SynthesisInvertsAnalysisAwayFromTheEnds) {
  constexpr int64_t kHop = 147, kWindow = 588, kSamples = 12 * kHop;
  const Value x = graph::parameter("x", {DType::kF32, {2, kSamples}});
  const Value y = synthesis(analysis(x, kWindow, kHop), kWindow, kHop);
  const auto input = random_tensor({2, kSamples}, 4);
  const auto output = evaluate({y}, {x}, std::vector{input})[0];
  for (int64_t i = kWindow; i < kSamples - kWindow; ++i) {
    EXPECT_NEAR(output.as<float>()[static_cast<size_t>(i)],
                input.as<float>()[static_cast<size_t>(i)], 1e-4);
  }
}

class TransformerStep : public ::testing::TestWithParam<TransformerConfig> {};

TEST_P(TransformerStep, EqualsTheWholeSequence) {
  ParameterList list;
  const Transformer model(Scope(list), GetParam());
  constexpr int64_t kLength = 9, kPrefix = 4;
  const int64_t width = GetParam().width;
  const Value x = graph::parameter("x", {DType::kF32, {2, kLength, width}});
  const Value mask = graph::parameter("mask", {DType::kF32, {2, kLength}});
  auto cut = [&](int64_t from, int64_t to) { return graph::slice_in_dim(x, 1, from, to); };
  auto at = [](int64_t position) {
    return graph::constant(static_cast<double>(position), {DType::kI32, {}});
  };
  auto step = model.step(cut(0, kPrefix), model.empty_cache(2, kLength, DType::kF32), at(0), mask);
  graph::Values pieces = {step.y_BTD};
  for (int64_t t = kPrefix; t < kLength; ++t) {
    step = model.step(cut(t, t + 1), step.cache, at(t), mask);
    pieces.push_back(step.y_BTD);
  }
  graph::Values parameters = list.values();
  parameters.insert(parameters.end(), {x, mask});
  auto inputs = initial_values(list);
  inputs.push_back(random_tensor({2, kLength, width}, 6));
  inputs.push_back(HostTensor({DType::kF32, {2, kLength}}));
  for (size_t i = 0; i < 2 * kLength; ++i) inputs.back().as<float>()[i] = i == 1 ? 0 : 1;
  const auto results =
      evaluate({model(x, mask), graph::concatenate(pieces, 1)}, parameters, inputs);
  EXPECT_LT(largest_difference(results[0], results[1]), 2e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, TransformerStep,
    ::testing::Values(
        TransformerConfig{.layers = 2, .width = 32, .heads = 4, .kv_heads = 4, .feed_forward = 48},
        TransformerConfig{.layers = 2,
                          .width = 32,
                          .heads = 4,
                          .kv_heads = 2,
                          .feed_forward = 48,
                          .norm = NormKind::kLayer,
                          .activation = Activation::kGeluNew,
                          .bias = true,
                          .rotary_dim = 4}));

TEST(JoinedStorage, TakesWhatTheLogicalTensorsJoinTo) {
  TransformerConfig config{.layers = 2,
                           .width = 16,
                           .heads = 4,
                           .kv_heads = 2,
                           .feed_forward = 24,
                           .qkv_bias = true,
                           .head_size = 8};
  ParameterList logical, joined({.joined = true});
  const Transformer one(Scope(logical), config), other(Scope(joined), config);
  const Value x = graph::parameter("x", {DType::kF32, {1, 5, 16}});
  const Value mask = graph::constant(1, {DType::kF32, {1, 5}});
  auto inputs = initial_values(logical);
  for (size_t i = 0; i < inputs.size(); ++i) {  // biases too
    inputs[i] = random_tensor(inputs[i].shape().dims, i, 0.3);
  }
  const auto filled = evaluate(logical.joined_values(), logical.values(), inputs);
  ASSERT_EQ(filled.size(), joined.all().size());
  EXPECT_EQ(joined.all()[1].name, "layers.0.attn.qkv_proj.weight");
  EXPECT_EQ(joined.all()[1].shape.dims, (graph::Dims{2, 4, 8, 16})) << "group, q + k + v, head";
  for (size_t i = 0; i < filled.size(); ++i) {
    EXPECT_EQ(filled[i].shape(), joined.all()[i].shape) << joined.all()[i].name;
  }
  auto run = [&](const Transformer& model, const ParameterList& list, auto tensors) {
    graph::Values parameters = list.values();
    parameters.push_back(x);
    tensors.push_back(random_tensor({1, 5, 16}, 77));
    return evaluate({model(x, mask)}, parameters, tensors)[0];
  };
  EXPECT_EQ(run(one, logical, inputs), run(other, joined, filled));
}

TEST(Sampling, GreedyTopKAndTopPKeepWhatTheyShould) {
  const Value logits = graph::parameter("logits", {DType::kF32, {1, 5}});
  // Probabilities .5 .25 .125 .0625 .0625, shuffled.
  const auto input = HostTensor::of<float>(
      {1, 5},
      {std::log(0.125f), std::log(0.5f), std::log(0.0625f), std::log(0.25f), std::log(0.0625f)});
  auto kept = [&](int k, double p) {
    const Value y = keep_likely(logits, graph::constant(k, {DType::kI32, {}}),
                                graph::constant(p, {DType::kF32, {}}));
    std::vector<int> indices;
    const auto values = evaluate({y}, {logits}, std::vector{input})[0].to_floats();
    for (int i = 0; i < 5; ++i) {
      if (values[static_cast<size_t>(i)] > -1e20f) indices.push_back(i);
    }
    return indices;
  };
  EXPECT_THAT(kept(5, 1.0), ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(kept(2, 1.0), ::testing::ElementsAre(1, 3));
  EXPECT_THAT(kept(5, 0.7), ::testing::ElementsAre(1, 3));
  EXPECT_THAT(kept(5, 0.01), ::testing::ElementsAre(1));
}

TEST(Sampling, GuidanceAddsWhatEachConditionChanges) {
  auto row = [](std::vector<float> values) {
    return graph::constant(std::span<const float>(values), {2, 2});
  };
  auto scale = [](std::vector<float> values) {
    return graph::constant(std::span<const float>(values), {2});
  };
  const Value none = row({1, 2, 3, 4}), timbre = row({2, 0, 3, 5}), both = row({4, 1, 2, 5});
  const auto mixed = evaluate({guide({none, timbre, both}, {scale({2, 1}), scale({3, 1})}),
                               guide({none, both}, {scale({0, 2})})},
                              {}, {});
  // The first row: 1 + 2 (2 - 1) + 3 (4 - 2) and 2 + 2 (0 - 2) + 3 (1 - 0).
  EXPECT_THAT(mixed[0].to_floats(), ::testing::ElementsAre(9, 1, 2, 5));
  EXPECT_THAT(mixed[1].to_floats(), ::testing::ElementsAre(1, 2, 1, 6));
  EXPECT_THROW(guide({none}, {scale({1, 1})}), Error);
}

TEST(Sampling, RowsDrawAsTheyWouldAlone) {
  constexpr int64_t kRows = 3, kSize = 40;
  const Value logits = graph::parameter("logits", {DType::kF32, {kRows, kSize}});
  const std::vector<double> keys = {1, 2, 3, 4, 5, 6}, temperatures = {1, 0, 0.5}, ks = {40, 40, 3},
                            ps = {1, 1, 0.9};
  auto constant = [](std::span<const double> all, int64_t row, int64_t width, graph::Dims dims,
                     DType type) {
    const auto part = row < 0 ? all : all.subspan(static_cast<size_t>(row * width), width);
    return graph::constant(part, {type, std::move(dims)});
  };
  auto inputs = [&](int64_t row) {
    const bool is_all = row < 0;
    const graph::Dims one = is_all ? graph::Dims{kRows} : graph::Dims{};
    return SamplingInputs{
        .key = constant(keys, row, 2, is_all ? graph::Dims{kRows, 2} : graph::Dims{2}, DType::kU32),
        .temperature = constant(temperatures, row, 1, one, DType::kF32),
        .top_k = constant(ks, row, 1, one, DType::kI32),
        .top_p = constant(ps, row, 1, one, DType::kF32)};
  };
  graph::Values drawn = {sample(logits, inputs(-1))};
  for (int64_t row = 0; row < kRows; ++row) {
    drawn.push_back(sample(graph::slice_in_dim(logits, 0, row, row + 1), inputs(row)));
  }
  const auto tokens = evaluate(drawn, {logits}, std::vector{random_tensor({kRows, kSize}, 5, 2)});
  for (size_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(tokens[0].as<int32_t>()[row], tokens[row + 1].as<int32_t>()[0]) << row;
  }
}

TEST(Sampling, DrawsFollowTheProbabilities) {
  constexpr int64_t kRows = 4000;
  const Value logits = graph::parameter("logits", {DType::kF32, {1, 3}});
  const Value token = sample(graph::broadcast_to(logits, {kRows, 3}),
                             {.key = graph::constant(std::vector<double>{1, 2}, {DType::kU32, {2}}),
                              .temperature = graph::constant(1, {DType::kF32, {}}),
                              .top_k = graph::constant(3, {DType::kI32, {}}),
                              .top_p = graph::constant(1, {DType::kF32, {}})});
  const auto input =
      HostTensor::of<float>({1, 3}, {std::log(0.6f), std::log(0.3f), std::log(0.1f)});
  std::vector<double> share(3);
  const auto drawn = evaluate({token}, {logits}, std::vector{input})[0];
  for (const int32_t t : drawn.as<int32_t>()) share[static_cast<size_t>(t)] += 1.0 / kRows;
  EXPECT_NEAR(share[0], 0.6, 0.03);
  EXPECT_NEAR(share[1], 0.3, 0.03);
}

}  // namespace
}  // namespace hum::nn
