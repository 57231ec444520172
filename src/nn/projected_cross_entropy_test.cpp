#include "nn/projected_cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/test_session.h"

namespace hum::nn {
namespace {

using graph::DType;
using graph::parameter;
using graph::Value;

// Loss and gradients, in parts of `rows` rows, or for 0 from the whole logits.
graph::Function program(DType dtype, int64_t count, int64_t vocabulary, int64_t rows) {
  constexpr int64_t kWidth = 48;
  const Value x = parameter("x", {dtype, {count, kWidth}});
  const Value weight = parameter("weight", {DType::kF32, {vocabulary, kWidth}});
  const Value targets = parameter("targets", {DType::kI32, {count}});
  const Value whole = graph::softmax_cross_entropy(
      graph::matmul(graph::convert(x, DType::kF32), weight, {.transpose_rhs = true}), targets);
  const Value each = rows == 0 ? whole : projected_cross_entropy(x, weight, targets, rows);
  const Value loss = graph::mean(each, {0});
  graph::Values results = graph::gradients(loss, graph::Values{x, weight});
  results.push_back(loss);
  return {.name = "loss", .parameters = {x, weight, targets}, .results = results};
}

std::vector<runtime::HostTensor> inputs_of(const graph::Function& function, int32_t vocabulary) {
  auto inputs = kernels::random_inputs(function);
  int32_t next = 1;
  for (int32_t& target : inputs[2].as<int32_t>()) target = next = (5 * next + 3) % vocabulary;
  return inputs;
}

double worst(const runtime::HostTensor& a, const runtime::HostTensor& b) {
  const auto x = a.to_floats(), y = b.to_floats();
  double difference = 0, scale = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference = std::max<double>(difference, std::abs(x[i] - y[i]));
    scale = std::max<double>(scale, std::abs(y[i]));
  }
  return difference / scale;
}

TEST(ProjectedCrossEntropy, IsTheLossOfWholeLogits) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const auto parts = program(dtype, 60, 301, 12), whole = program(dtype, 60, 301, 0);
    const auto inputs = inputs_of(parts, 301);
    auto& session = kernels::kernel_session();
    const auto ours = session.compile("parts", parts).run(inputs);
    const auto wanted = session.compile("whole", whole).run(inputs);
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_LE(worst(ours[i], wanted[i]), dtype == DType::kF32 ? 1e-5 : 0.02) << i;
    }
  }
}

TEST(ProjectedCrossEntropy, NeverHoldsAllLogits) {
  constexpr int64_t kCount = 512, kVocabulary = 8192;
  const auto memory = [](int64_t rows) {
    const auto program_of = program(DType::kF32, kCount, kVocabulary, rows);
    return kernels::kernel_session().compile("memory", program_of).memory_stats();
  };
  const auto whole = memory(0), parts = memory(32);
  if (!whole || !parts) GTEST_SKIP() << "this plugin keeps no memory statistics";
  EXPECT_GE(whole->temporary_bytes, 4 * kCount * kVocabulary);
  EXPECT_LE(parts->temporary_bytes, kCount * kVocabulary);
}

TEST(ProjectedCrossEntropy, TakesAsManyRowsAsFitInto64MB) {
  EXPECT_EQ(rows_at_once(4096, 1024), 4096);
  EXPECT_EQ(rows_at_once(4096, 50257), 256);
  EXPECT_EQ(rows_at_once(7, int64_t{1} << 30), 1);
}

TEST(ProjectedCrossEntropy, RefusesRowsThatDoNotDivide) {
  try {
    program(DType::kF32, 60, 301, 13);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("13 rows at once do not fit"));
  }
}

}  // namespace
}  // namespace hum::nn
