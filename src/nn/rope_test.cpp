// Rotary rates against Hugging Face transformers (tools/golden/llama.py), and invariants of
// rotations.
#include "nn/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::nn {
namespace {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

RopeScaling scaling_of(const Json& p) {
  const std::string type = p.at("rope_type");
  if (type == "default" || type == "dynamic") return {};
  RopeScaling s{.kind = from_name<RopeStretch>(type), .factor = p.at("factor")};
  s.original_positions = p.value("original_max_position_embeddings", s.original_positions);
  s.low_frequency_factor = p.value("low_freq_factor", s.low_frequency_factor);
  s.high_frequency_factor = p.value("high_freq_factor", s.high_frequency_factor);
  s.beta_fast = p.value("beta_fast", s.beta_fast);
  s.beta_slow = p.value("beta_slow", s.beta_slow);
  s.truncate = p.value("truncate", s.truncate);
  s.attention_factor = p.value("attention_factor", s.attention_factor);
  return s;
}

TEST(RopeRates, AreThoseOfTransformers) {
  const Json golden = read_json(source_folder() / "tests/data/llama/rope.json");
  ASSERT_GE(golden.at("rows").size(), 7U);
  for (const Json& row : golden.at("rows")) {
    const Json& p = row.at("parameters");
    const auto rates = rope_rates(golden.at("head_dim"), p.at("rope_theta"), scaling_of(p));
    const auto wanted = row.at("rates").get<std::vector<float>>();
    ASSERT_EQ(rates.rates.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_NEAR(rates.rates[i], wanted[i], 1e-6 * wanted[i]) << row.at("name") << " " << i;
    }
    // A config's two mscale fields become an attention factor where config.json is read.
    if (!p.contains("mscale")) {
      EXPECT_NEAR(rates.magnitude, row.at("magnitude").get<double>(), 1e-6) << row.at("name");
    }
  }
}

TEST(RopeRates, RefusesOddSizes) { EXPECT_THROW(rope_rates(7, 10000), Error); }

TEST(Rotate, TurnsPairsByTheirAngleAndKeepsTheRest) {
  const Value x = graph::parameter("x", {DType::kF32, {1, 2, 1, 1, 6}});
  const Value positions = graph::constant(std::vector<int32_t>{0, 3}, {2});
  const RopeRates rates{.rates = {0.5F, 0.25F}, .magnitude = 2};
  const auto input = HostTensor::of<float>({1, 2, 1, 1, 6}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  const auto y = runtime::evaluate({rotate(x, 1, positions, rates)}, {x}, std::vector{input})[0];
  const auto v = y.as<float>();
  const float at_zero[] = {2, 4, 6, 8, 5, 6};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(v[i], at_zero[i], 1e-6);
  EXPECT_NEAR(v[6], 2 * (1 * std::cos(1.5) - 3 * std::sin(1.5)), 1e-5);
  EXPECT_NEAR(v[8], 2 * (3 * std::cos(1.5) + 1 * std::sin(1.5)), 1e-5);
  EXPECT_NEAR(v[7], 2 * (2 * std::cos(0.75) - 4 * std::sin(0.75)), 1e-5);
  EXPECT_EQ(v[10], 5);
  EXPECT_EQ(v[11], 6);
}

}  // namespace
}  // namespace hum::nn
