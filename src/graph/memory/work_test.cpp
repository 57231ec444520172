// What count_work counts, against products and arrays counted by hand.
#include "graph/memory/work.h"

#include <gtest/gtest.h>

#include "graph/ops.h"
#include "graph/profile/profile.h"

namespace hum::graph {
namespace {

constexpr double kFloat = 4;

Value matrix(const char* name, int64_t rows, int64_t columns, DType dtype = DType::kF32) {
  return parameter(name, {dtype, {rows, columns}});
}

TEST(Work, ProductsCountTwoForEachMultiplication) {
  const Value a = matrix("a", 3, 5), b = matrix("b", 5, 7);
  const Work work = count_work({.parameters = {a, b}, .results = {matmul(a, b)}});
  EXPECT_EQ(work.product_flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, kFloat * (3 * 5 + 5 * 7 + 3 * 7));
  EXPECT_EQ(work.product_dtype, DType::kF32);
}

TEST(Work, ALoopCountsAsOftenAsItRuns) {
  const Value x = matrix("x", 4, 4);
  const auto loop = scan(6, Values{x}, {}, [](const ScanStep& step) {
    return ScanResult{{matmul(step.carry[0], step.carry[0])}, {}};
  });
  const Work once = count_work({.parameters = {x}, .results = {matmul(x, x)}});
  const Work work = count_work({.parameters = {x}, .results = {loop.carry[0]}});
  EXPECT_EQ(work.product_flops, 6 * once.product_flops);
  EXPECT_GE(work.bytes, 6 * kFloat * 16);
}

TEST(Work, AKernelsProductsAreThoseOfItsFallback) {
  const Value a = matrix("a", 2, 8, DType::kBF16), b = matrix("b", 8, 2, DType::kBF16);
  const Value small = matrix("small", 2, 2);
  const Values call = custom_call("hum.test", Values{a, b}, {}, [](std::span<const Value> in) {
    return Values{matmul(in[0], in[1])};
  });
  const Function function{.parameters = {a, b, small}, .results = {call[0], matmul(small, small)}};
  for (const bool is_kernel : {false, true}) {
    const Work work = count_work(function, [=](const Node&) { return is_kernel; });
    EXPECT_EQ(work.product_flops, 2 * (2 * 8 * 2 + 2 * 2 * 2));
    EXPECT_EQ(work.product_dtype, DType::kBF16);
  }
}

// One fused loop: what lies between is never written.
TEST(Work, AFusedLoopReadsAndWritesOnce) {
  const Value a = matrix("a", 3, 5), b = matrix("b", 5, 7);
  const Value y = matmul(a, b);
  const Function function{.parameters = {a, b}, .results = {(y + 1) * 2 - y}};
  EXPECT_EQ(count_work(function).bytes, kFloat * (3 * 5 + 5 * 7 + (1 + 1 + 1) * 3 * 7));
}

}  // namespace
}  // namespace hum::graph
