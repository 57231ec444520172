// Random numbers: the same bits as on the host, and the distributions they claim.
#include "graph/ops/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "graph/ops.h"
#include "runtime/testing.h"

namespace hum::graph {
namespace {

using runtime::HostTensor;

constexpr std::array<uint32_t, 2> kKey = {0x12345678, 0x9abcdef0};

// Results of a graph of one key, which is an input of the program.
std::vector<HostTensor> with_key(const std::function<Values(const Value&)>& build) {
  const Value key = parameter("key", {DType::kU32, {2}});
  return runtime::evaluate(build(key), {key},
                           std::vector{HostTensor::of<uint32_t>({2}, {kKey[0], kKey[1]})});
}

TEST(RandomBits, AreTheHostsBits) {
  const auto results = with_key([](const Value& key) {
    return Values{random_bits({7, 11}, key), random_bits({}, key),
                  random_bits({6}, key_constant(kKey))};
  });
  Rng rng(kKey);
  for (const uint32_t bits : results[0].as<uint32_t>()) ASSERT_EQ(bits, rng.bits());
  EXPECT_EQ(results[1].as<uint32_t>()[0], Rng(kKey).bits());
  Rng again(kKey);
  for (const uint32_t bits : results[2].as<uint32_t>()) ASSERT_EQ(bits, again.bits());
}

TEST(FoldIn, IsTheHostsThreefry) {
  const auto results = with_key([](const Value& key) {
    return Values{fold_in(key, 5), fold_in(key, constant(5, {DType::kI32, {}})),
                  fold_in(fold_in(key, 5), 4000000000.0)};
  });
  const auto once = threefry2x32(kKey, {5, 0}), twice = threefry2x32(once, {4000000000u, 0});
  EXPECT_THAT(results[0].as<uint32_t>(), ::testing::ElementsAre(once[0], once[1]));
  EXPECT_EQ(results[0], results[1]);
  EXPECT_THAT(results[2].as<uint32_t>(), ::testing::ElementsAre(twice[0], twice[1]));
}

TEST(Uniform, IsTheHostsUniform) {
  const auto u = with_key([](const Value& key) {
    return Values{uniform({DType::kF32, {999}}, key)};
  });
  Rng rng(kKey);
  for (const float x : u[0].as<float>()) ASSERT_EQ(x, static_cast<float>(rng.uniform()));
}

TEST(Normal, IsTheHostsNormalAndStandard) {
  const int64_t count = 40000;
  const auto results = with_key([](const Value& key) {
    return Values{normal({DType::kF32, {count}}, key), normal({DType::kBF16, {8}}, key)};
  });
  Rng rng(kKey);
  double sum = 0, squares = 0, fourth = 0;
  for (const float x : results[0].as<float>()) {
    const double wanted = rng.normal();
    ASSERT_NEAR(x, wanted, 1e-5 * std::max(1.0, std::abs(wanted)));
    sum += x;
    squares += double{x} * x;
    fourth += std::pow(x, 4);
  }
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(squares / count, 1, 0.03);
  EXPECT_NEAR(fourth / count, 3, 0.2);
  EXPECT_EQ(results[1].dtype(), DType::kBF16);
}

TEST(Bernoulli, IsTrueAsOftenAsAsked) {
  const int64_t count = 40000;
  const auto results = with_key([](const Value& key) {
    const Value each = broadcast_to(constant(0.75, {DType::kF32, {}}), {count});
    const auto share = [](const Value& draws) { return mean_all(convert(draws, DType::kF32)); };
    return Values{share(bernoulli({count}, key, 0.25)), share(bernoulli({count}, key, each)),
                  share(bernoulli({count}, key, 0)), share(bernoulli({count}, key, 1))};
  });
  EXPECT_NEAR(results[0].as<float>()[0], 0.25, 0.01);
  EXPECT_NEAR(results[1].as<float>()[0], 0.75, 0.01);
  EXPECT_EQ(results[2].as<float>()[0], 0);
  EXPECT_EQ(results[3].as<float>()[0], 1);
}

TEST(Gumbel, DrawsFromTheSoftmaxAndIsFinite) {
  const int64_t draws = 40000;
  const std::vector<float> logits = {0, 1, 2, -30};
  const auto results = with_key([&](const Value& key) {
    const Value noise = gumbel({DType::kF32, {draws, 4}}, key);
    const Value each = broadcast_to(constant(std::span<const float>(logits), {4}), {draws, 4});
    const Value drawn = categorical(each, key);
    return Values{drawn, reduce_max(abs(noise), {0, 1})};
  });
  std::array<double, 4> counts{};
  for (const int32_t token : results[0].as<int32_t>()) counts[static_cast<size_t>(token)] += 1;
  const double total = 1 + std::exp(1) + std::exp(2);
  EXPECT_NEAR(counts[0] / draws, 1 / total, 0.01);
  EXPECT_NEAR(counts[1] / draws, std::exp(1) / total, 0.01);
  EXPECT_NEAR(counts[2] / draws, std::exp(2) / total, 0.01);
  EXPECT_EQ(counts[3], 0);
  EXPECT_LT(results[1].as<float>()[0], 20);
}

TEST(Random, RowsOfManyKeysAreThoseOfEachKeyAlone) {
  const Value keys = parameter("keys", {DType::kU32, {2, 2}});
  const std::vector given = {HostTensor::of<uint32_t>({2, 2}, {kKey[0], kKey[1], 7, 9})};
  const Shape odd{DType::kF32, {2, 3, 5}};
  auto all = [&](const Value& key, const Shape& shape) {
    return Values{uniform(shape, key), normal(shape, key), gumbel(shape, fold_in(key, 4))};
  };
  const auto both = runtime::evaluate(all(keys, odd), {keys}, given);
  for (int64_t row = 0; row < 2; ++row) {
    const Value key = reshape(slice_in_dim(keys, 0, row, row + 1), {2});
    const auto alone = runtime::evaluate(all(key, {DType::kF32, {3, 5}}), {keys}, given);
    for (size_t i = 0; i < both.size(); ++i) {
      const auto rows = both[i].as<float>().subspan(static_cast<size_t>(row) * 15, 15);
      EXPECT_TRUE(std::ranges::equal(rows, alone[i].as<float>())) << row << " " << i;
    }
  }
  EXPECT_THROW(uniform({DType::kF32, {3, 2}}, keys), Error);
}

TEST(Random, RefusesWhatIsNoKey) {
  try {
    uniform({DType::kF32, {4}}, parameter("key", {DType::kU32, {3}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a key is ui32[2] or ui32[B,2], not ui32[3]"));
  }
  EXPECT_THROW(normal({DType::kI32, {4}}, key_constant(kKey)), Error);
}

}  // namespace
}  // namespace hum::graph
