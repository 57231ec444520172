// Philox against the known answers of its authors, and what rounding by chance promises.
#include "graph/ops/stochastic_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/bf16.h"
#include "base/error.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::graph {
namespace {

using runtime::HostTensor;
using Four = std::array<uint32_t, 4>;

const Shape kKeyShape = {DType::kU32, {2}};

HostTensor key_tensor(uint32_t k0, uint32_t k1) { return HostTensor::of<uint32_t>({2}, {k0, k1}); }

// Random123's tests/kat_vectors, "philox4x32 10".
TEST(Philox, GivesTheKnownAnswers) {
  struct Row {
    Four counter;
    uint32_t key[2];
    Four words;
  };
  const Row rows[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  const Value counter = parameter("counter", {DType::kU32, {4}}), key = parameter("key", kKeyShape);
  const auto word = [&](int64_t i) { return slice_in_dim(counter, 0, i, i + 1); };
  const auto words = philox4x32({word(0), word(1), word(2), word(3)}, key);
  for (const Row& row : rows) {
    const auto results =
        runtime::evaluate({words.begin(), words.end()}, {counter, key},
                          std::vector{HostTensor::of({4}, std::span<const uint32_t>(row.counter)),
                                      key_tensor(row.key[0], row.key[1])});
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].as<uint32_t>()[0], row.words[i]) << i;
  }
}

// x rounded with a stream, under one key after the other.
std::vector<std::vector<float>> rounded(const std::vector<float>& x, int keys) {
  const Value in = parameter("x", {DType::kF32, {static_cast<int64_t>(x.size())}});
  const Value key = parameter("key", kKeyShape);
  const uint32_t streams[] = {7};
  const Function function{"round", {in, key}, {round_stochastically(in, key, streams)}, {}};
  const auto program = runtime::test_session().compile("round", function);
  std::vector<std::vector<float>> results;
  for (int k = 0; k < keys; ++k) {
    const std::vector inputs = {HostTensor::of(in.dims(), std::span<const float>(x)),
                                key_tensor(static_cast<uint32_t>(k), 3)};
    results.push_back(program.run(inputs)[0].to_floats());
  }
  return results;
}

TEST(RoundStochastically, IsExactOnAverageAndGivesNeighboursAlone) {
  std::vector<float> x;
  for (int i = 0; i < 257; ++i) x.push_back((i % 2 == 0 ? 1.0F : -1.0F) * (1 + float(i) / 1024));
  const int keys = 4096;
  const auto all = rounded(x, keys);
  for (size_t i = 0; i < x.size(); ++i) {
    const float unit = 1.0F / 128;  // bf16 between 1 and 2
    double sum = 0;
    for (const auto& draw : all) {
      ASSERT_LT(std::abs(draw[i] - x[i]), unit);
      sum += double{draw[i]};
    }
    // Five deviations of the mean; a value that bf16 holds is kept.
    const double share = std::fmod(std::abs(double{x[i]}) * 128, 1);
    const double deviation = double{unit} * std::sqrt(share * (1 - share) / keys);
    EXPECT_NEAR(sum / keys, double{x[i]}, 5 * deviation + 1e-12) << i;
  }
}

TEST(RoundStochastically, KeepsWhatIsNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& draw : rounded({kInfinity, -kInfinity, std::nanf(""), 0.0F}, 16)) {
    EXPECT_EQ(draw[0], kInfinity);
    EXPECT_EQ(draw[1], -kInfinity);
    EXPECT_TRUE(std::isnan(draw[2]));
    EXPECT_EQ(draw[3], 0.0F);
  }
}

// A stack of tensors is rounded as they would be one by one.
TEST(RoundStochastically, DrawsOfAPartDependOnItsStreamAlone) {
  const Value x = parameter("x", {DType::kF32, {2, 3, 67}}), key = parameter("key", kKeyShape);
  const uint32_t streams[] = {11, 12};
  const auto part = [&](int64_t i) {
    const std::span<const uint32_t> all(streams);
    return round_stochastically(slice_in_dim(x, 0, i, i + 1), key,
                                all.subspan(static_cast<size_t>(i), 1));
  };
  const Value apart = concatenate({part(0), part(1)}, 0);
  const Value same = concatenate({part(0), part(0)}, 0);
  const auto results = runtime::evaluate(
      {round_stochastically(x, key, streams), apart, same}, {x, key},
      std::vector{runtime::golden_tensor(1, "x", x.dims(), {}), key_tensor(1, 2)});
  EXPECT_EQ(results[0], results[1]);
  EXPECT_FALSE(results[0] == results[2]);
}

TEST(RoundStochastically, RefusesUnequalParts) {
  const Value x = parameter("x", {DType::kF32, {3}}), key = parameter("key", kKeyShape);
  const uint32_t streams[] = {1, 2};
  EXPECT_THROW(round_stochastically(x, key, streams), Error);
}

}  // namespace
}  // namespace hum::graph
