// Vectorised draws against Rng's, one by one.
#include "nn/normal_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace hum::nn {
namespace {

std::vector<float> one_by_one(std::array<uint32_t, 2> key, double scale, size_t count) {
  Rng rng(key);
  std::vector<float> values(count);
  for (float& value : values) {
    double draw = rng.normal();
    while (std::abs(draw) > 2) draw = rng.normal();
    value = static_cast<float>(draw * scale);
  }
  return values;
}

std::vector<float> at_once(std::array<uint32_t, 2> key, double scale, size_t count,
                           kernels::Isa isa) {
  std::vector<float> values(count);
  truncated_normals(key, scale, values, isa);
  return values;
}

TEST(TruncatedNormals, AreThoseOfTheRngOnEveryInstructionSet) {
  const auto key = stream_key(4, "layers.0.attn.q_proj.weight", 0);
  const auto wanted = one_by_one(key, 0.02, 1'000'000);
  for (const auto& [isa, name] : enum_names(kernels::Isa())) {
    if (isa > kernels::detect_isa()) break;
    EXPECT_EQ(at_once(key, 0.02, wanted.size(), isa), wanted) << name;
  }
}

TEST(TruncatedNormals, AShorterTensorHasTheFirstOnes) {
  const auto key = stream_key(1, "a.bias", 0);
  const auto all = one_by_one(key, 1, 1000);
  for (const size_t count : {0U, 1U, 255U, 256U, 257U, 1000U}) {
    EXPECT_EQ(at_once(key, 1, count, kernels::chosen_isa()),
              std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)));
  }
}

}  // namespace
}  // namespace hum::nn
