#include "kernels/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using runtime::HostTensor;
using ::testing::HasSubstr;

struct Case {
  int64_t batch, queries, keys, heads, groups, head;
  bool causal = true;
  int64_t window = 0;
  bool mask = false, first = false, joined = false;

  std::vector<graph::Dims> tensors() const {
    if (joined) return {{batch, keys, groups, heads / groups + 2, head}};
    const graph::Dims kv = {batch, keys, groups, head};
    return {{batch, queries, heads, head}, kv, kv};
  }
};

graph::Function program(const Case& c, DType dtype) {
  graph::Values tensors;
  for (const auto& dims : c.tensors()) {
    tensors.push_back(parameter("in" + std::to_string(tensors.size()), {dtype, dims}));
  }
  AttentionOptions options{.causal = c.causal, .window = c.window};
  graph::Values extras;
  if (c.mask) {
    extras.push_back(parameter("mask", {DType::kF32, {c.batch, c.keys}}));
    options.key_mask_BS = extras.back();
  }
  if (c.first) {
    extras.push_back(parameter("first", {DType::kI32, {}}));
    options.first = extras.back();
  }
  auto function = with_gradients("attention", tensors, [&](auto in) {
    return c.joined ? self_attention(in[0], options) : attention(in[0], in[1], in[2], options);
  });
  function.parameters.insert(function.parameters.end(), extras.begin(), extras.end());
  return function;
}

// A mask that hides some keys, and all keys of the last of several items; a first position below
// S - T.
std::vector<HostTensor> inputs_of(const graph::Function& function, const Case& c) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < c.tensors().size() + 1; ++i) {
    const Value& p = function.parameters[i];
    inputs.push_back(random_tensor(graph::parameter_name(p.node()), p.shape()));
  }
  if (c.mask) {
    HostTensor mask({DType::kF32, {c.batch, c.keys}});
    const auto values = mask.as<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      const bool last = static_cast<int64_t>(i) / c.keys == c.batch - 1;
      values[i] = i % 3 != 1 && !(last && c.batch > 1) ? 1.0F : 0.0F;
    }
    inputs.push_back(mask);
  }
  if (c.first) {
    inputs.push_back(HostTensor::scalar(static_cast<int32_t>((c.keys - c.queries) / 2)));
  }
  return inputs;
}

const KernelCalls kBoth = {"hum.attention", "hum.attention_grad"};

TEST(Attention, ValuesAndGradientsAgreeWithPlainOps) {
  HUM_NEEDS(Isa::kAvx2);
  const Case cases[] = {
      {.batch = 2, .queries = 64, .keys = 64, .heads = 2, .groups = 2, .head = 32},
      {.batch = 1, .queries = 130, .keys = 130, .heads = 4, .groups = 2, .head = 64},
      {.batch = 1, .queries = 257, .keys = 257, .heads = 3, .groups = 1, .head = 48},
      {.batch = 2, .queries = 65, .keys = 200, .heads = 2, .groups = 2, .head = 16},
      {.batch = 1,
       .queries = 100,
       .keys = 300,
       .heads = 2,
       .groups = 1,
       .head = 80,
       .causal = false},
      {.batch = 1, .queries = 300, .keys = 300, .heads = 2, .groups = 2, .head = 32, .window = 37},
      {.batch = 2, .queries = 90, .keys = 131, .heads = 2, .groups = 1, .head = 32, .mask = true},
      {.batch = 2, .queries = 70, .keys = 70, .heads = 2, .groups = 2, .head = 32, .joined = true},
      {.batch = 2,
       .queries = 131,
       .keys = 131,
       .heads = 6,
       .groups = 2,
       .head = 48,
       .mask = true,
       .joined = true},
      {.batch = 40, .queries = 3, .keys = 3, .heads = 4, .groups = 2, .head = 16, .joined = true},
      {.batch = 1, .queries = 3, .keys = 700, .heads = 4, .groups = 2, .head = 128, .first = true},
      {.batch = 3,
       .queries = 1,
       .keys = 999,
       .heads = 2,
       .groups = 2,
       .head = 64,
       .mask = true,
       .first = true},
  };
  for (const Case& c : cases) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const auto function = program(c, dtype);
      SCOPED_TRACE(fmt::format("{} x {}, heads {} of {}", c.queries, c.keys, c.heads, c.head));
      expect_kernels_agree(function, inputs_of(function, c), dtype == DType::kF32 ? 1e-5 : 0.02,
                           kBoth);
    }
  }
}

// A query that sees no key yields zeros and passes on no gradient.
TEST(Attention, OfNoKeysIsZero) {
  HUM_NEEDS(Isa::kAvx2);
  const Case c{
      .batch = 1, .queries = 64, .keys = 80, .heads = 2, .groups = 2, .head = 32, .mask = true};
  const auto function = program(c, DType::kF32);
  auto inputs = inputs_of(function, c);
  for (float& x : inputs[4].as<float>()) x = 0;
  for (const auto& result : run_kernels(function, inputs, kBoth)) {
    for (const float x : result.as<float>()) ASSERT_EQ(x, 0);
  }
}

// Large scores must neither overflow nor lose the largest one.
TEST(Attention, StandsLargeScores) {
  HUM_NEEDS(Isa::kAvx2);
  const Case c{.batch = 1, .queries = 70, .keys = 140, .heads = 1, .groups = 1, .head = 64};
  const auto function = program(c, DType::kF32);
  auto inputs = inputs_of(function, c);
  for (float& x : inputs[0].as<float>()) x *= 100;
  expect_kernels_agree(function, inputs, 1e-4, kBoth);
}

// A broken projection must show: NaN keys are not treated as hidden.
TEST(Attention, NaNsComeOut) {
  HUM_NEEDS(Isa::kAvx2);
  const Case c{.batch = 1, .queries = 70, .keys = 140, .heads = 1, .groups = 1, .head = 64};
  const Case decoding{.batch = 1, .queries = 1, .keys = 2100, .heads = 1, .groups = 1, .head = 64};
  for (const Case& each : {c, decoding}) {
    const auto function = program(each, DType::kF32);
    auto inputs = inputs_of(function, each);
    inputs[1].as<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    for (const auto& result : run_kernels(function, inputs, kBoth)) {
      EXPECT_TRUE(std::ranges::any_of(result.as<float>(), [](float x) { return std::isnan(x); }))
          << result.shape().to_string();
    }
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto message = [](graph::Dims q, graph::Dims k, AttentionOptions options) {
    try {
      attention(parameter("q", {DType::kF32, q}), parameter("k", {DType::kF32, k}),
                parameter("v", {DType::kF32, k}), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message({1, 8, 3, 16}, {1, 8, 2, 16}, {}), HasSubstr("H a multiple of G"));
  EXPECT_THROW(self_attention(parameter("qkv", {DType::kF32, {1, 8, 2, 2, 16}})), Error);
  EXPECT_THAT(message({1, 8, 2, 16}, {1, 8, 2, 16}, {.causal = false, .window = 4}),
              HasSubstr("a window of 4 without causal order"));
  EXPECT_THAT(
      message({1, 8, 2, 16}, {1, 8, 2, 16}, {.key_mask_BS = parameter("m", {DType::kF32, {1, 9}})}),
      HasSubstr("the key mask is f32[1,9], not f32[1,8]"));
}

}  // namespace
}  // namespace hum::kernels
