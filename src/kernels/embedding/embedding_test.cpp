#include "kernels/embedding/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/test_session.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;
using ::testing::HasSubstr;

struct Case {
  int64_t rows, width;
  graph::Dims ids;
};

graph::Function program(const Case& c, DType dtype, DType id_type = DType::kI32) {
  const Value table = parameter("table", {dtype, {c.rows, c.width}});
  const Value ids = parameter("ids", {id_type, c.ids});
  const Value y = embedding(table, ids), dy = parameter("dy", y.shape());
  graph::Values results = graph::pullback(graph::Values{y}, graph::Values{dy}, {{table}});
  results.push_back(y);
  return {"embedding", {table, ids, dy}, results, {}};
}

// With ids in [low, high), one of them frequent.
std::vector<runtime::HostTensor> inputs_of(const graph::Function& function, int64_t low,
                                           int64_t high) {
  auto inputs = random_inputs(function);
  Rng rng(3, "ids");
  for (int32_t& id : inputs[1].as<int32_t>()) {
    const bool often = rng.uniform() < 0.3;
    id = static_cast<int32_t>(
        low + (often ? (high - low) / 2
                     : static_cast<int64_t>(rng.uniform() * static_cast<double>(high - low))));
  }
  return inputs;
}

const KernelCalls kGradient = {"hum.embedding_grad"};

TEST(Embedding, ValuesAndGradientsAgreeWithPlainOpsOverOddSizes) {
  HUM_NEEDS(Isa::kAvx2);
  const Case cases[] = {{1, 4096, {5}},      {7, 33, {3, 67}},  {1000, 512, {4, 64}},
                        {300, 128, {2, 33}}, {50, 1, {8, 600}}, {3, 200, {100}},
                        {2000, 130, {41}}};
  for (const Case& c : cases) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const auto function = program(c, dtype);
      SCOPED_TRACE(fmt::format("table [{}, {}]", c.rows, c.width));
      expect_kernels_agree(function, inputs_of(function, 0, c.rows),
                           dtype == DType::kF32 ? 1e-6 : 1.0 / 256,
                           dtype == DType::kF32 ? KernelCalls() : kGradient);
    }
  }
}

TEST(Embedding, IdsOutsideTheTableAddNothing) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program({100, 64, {200}}, DType::kBF16);
  const auto inputs = inputs_of(function, -50, 150);
  EXPECT_THAT(inputs[1].to_floats(), ::testing::Contains(::testing::Lt(0)));
  EXPECT_THAT(inputs[1].to_floats(), ::testing::Contains(::testing::Ge(100)));
  expect_kernels_agree(function, inputs, 1.0 / 256, kGradient);
}

TEST(Embedding, TheGradientHasTheSameBitsEveryTime) {
  HUM_NEEDS(Isa::kAvx2);
  const auto function = program({500, 300, {1000}}, DType::kBF16);
  const auto inputs = inputs_of(function, 0, 500);
  const auto first = run_kernels(function, inputs, kGradient)[0];
  const auto compiled = kernel_session().compile(function.name, function);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(compiled.run(inputs)[0] == first);
}

TEST(Embedding, UnsignedIdsAreLeftToPlainOps) {
  EXPECT_EQ(kernel_calls(program({100, 64, {200}}, DType::kBF16, DType::kU32)), KernelCalls());
}

TEST(Embedding, RefusesWhatDoesNotFit) {
  try {
    embedding(parameter("table", {DType::kF32, {2, 4, 8}}), parameter("ids", {DType::kI32, {3}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("table f32[2,4,8] and ids i32[3] do not fit"));
  }
}

}  // namespace
}  // namespace hum::kernels
