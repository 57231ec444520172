// Placements through layers and back: what data and tensor parallel training stand on.
#include <gtest/gtest.h>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

constexpr DType kF32 = DType::kF32;

std::string text(const Value& value) { return value.placement().to_string(); }

TEST(DataParallel, GradientsOfParametersArePartialSums) {
  const Value x = placed({kF32, {4, 6}}, kReplicated, sharded(0));
  const Value weight = placed({kF32, {6, 8}}, kReplicated);
  const Value bias = placed({kF32, {8}}, kReplicated);
  const Value hidden = gelu_new(matmul(x, weight) + bias);
  EXPECT_EQ(text(hidden), "data: S(0), tensor: R");
  const Value loss = mean_all(hidden * hidden);
  EXPECT_EQ(text(loss), "data: P, tensor: R");
  for (const Value& gradient : gradients(loss, Values{weight, bias})) {
    EXPECT_EQ(text(gradient), "data: P, tensor: R");
  }
}

TEST(DataParallel, GradientsOfAnEmbeddingArePartialSums) {
  const Value ids = placed({DType::kI32, {2, 5}}, kReplicated, sharded(0));
  const Value table = placed({kF32, {11, 6}}, kReplicated);
  const Value logits = matmul(take(table, ids), table, {.transpose_rhs = true});
  const Value loss = mean_all(softmax_cross_entropy(logits, ids));
  const Value gradient = gradients(loss, Values{table})[0];  // through both uses
  EXPECT_EQ(text(gradient), "data: P, tensor: R");
}

// A column-cut layer, then a row-cut one: one all_reduce at the end, one for x's gradient.
TEST(TensorParallel, CutLayersHaveGradientsPlacedAsTheirParameters) {
  const Value x = placed({kF32, {4, 6}}, kReplicated);
  const Value up = placed({kF32, {6, 8}}, sharded(1)), bias = placed({kF32, {8}}, sharded(0));
  const Value down = placed({kF32, {8, 6}}, sharded(0));
  const Value hidden = silu(matmul(x, up) + bias);
  EXPECT_EQ(text(hidden), "data: R, tensor: S(1)");
  const Value y = matmul(hidden, down);
  EXPECT_EQ(text(y), "data: R, tensor: P");
  // The cotangent of a partial sum is replicated.
  const Value cotangent = placed({kF32, {4, 6}}, kReplicated);
  const Values found = pullback(Values{y}, Values{cotangent}, Values{x, up, bias, down});
  EXPECT_EQ(text(found[0]), "data: R, tensor: P");
  EXPECT_EQ(text(found[1]), text(up));
  EXPECT_EQ(text(found[2]), text(bias));
  EXPECT_EQ(text(found[3]), text(down));
}

// Heads cut over the mesh: [B, T, heads * size] -> [B, heads, T, size] and attention inside each.
TEST(TensorParallel, AttentionStaysInsideItsHeads) {
  const Value x = placed({kF32, {2, 5, 12}}, sharded(2));
  const Value heads = transpose(reshape(x, {2, 5, 3, 4}), {0, 2, 1, 3});
  EXPECT_EQ(text(heads), "data: R, tensor: S(1)");
  const Value scores = matmul(heads, heads, {.transpose_rhs = true});
  const Value mixed = matmul(softmax(scores, -1), heads);
  const Value y = reshape(transpose(mixed, {0, 2, 1, 3}), {2, 5, 12});
  EXPECT_EQ(text(y), "data: R, tensor: S(2)");
  const Value cotangent = placed({kF32, {2, 5, 12}}, sharded(2));
  EXPECT_EQ(text(pullback(Values{y}, Values{cotangent}, Values{x})[0]), text(x));
}

}  // namespace
}  // namespace hum::graph::op_test
