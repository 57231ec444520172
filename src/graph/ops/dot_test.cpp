// Matrix products against triple loops in double.
#include <gtest/gtest.h>

#include "graph/op.h"
#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;

// sum over k of a(i, k) * b(i, k)
Array dot(Dims dims, int64_t inner, const std::function<double(const Dims&, int64_t)>& a,
          const std::function<double(const Dims&, int64_t)>& b) {
  return make_array(std::move(dims), [&](const Dims& i) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) sum += a(i, k) * b(i, k);
    return sum;
  });
}

Case product(std::string name, Input lhs, Input rhs, std::function<Value(In)> build,
             std::function<Array(Ins)> reference) {
  return {.name = std::move(name),
          .op = "dot_general",
          .inputs = {std::move(lhs), std::move(rhs)},
          .build = [=](In x) { return Values{build(x)}; },
          .reference = [=](Ins x) { return Arrays{reference(x)}; }};
}

std::vector<Case> general_cases() {
  // lhs [k0, b, i, k1] x rhs [j, k1, b, k0]: everything out of order.
  const auto scrambled = [](In x) { return dot_general(x[0], x[1], {{1}, {2}, {3, 0}, {1, 3}}); };
  const auto scrambled_sum = [](Ins x) {
    return dot(
        {2, 7, 5}, 9,
        [&](const Dims& i, int64_t k) {
          return x[0].at({k / 3, i[0], i[1], k % 3});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({i[2], k % 3, i[0], k / 3});
        });
  };
  const auto outer = [](In x) { return dot_general(x[0], x[1], {}); };
  const auto outer_product = [](Ins x) {
    return make_array({5, 7}, [&](const Dims& i) { return x[0].at({i[0]}) * x[1].at({i[1]}); });
  };
  const auto inner = [](In x) { return dot_general(x[0], x[1], {{}, {}, {0}, {0}}); };
  const auto inner_product = [](Ins x) {
    return dot(
        {}, 33, [&](const Dims&, int64_t k) { return x[0].at({k}); },
        [&](const Dims&, int64_t k) { return x[1].at({k}); });
  };
  const auto wide = [](In x) { return dot_general(x[0], x[1], {{}, {}, {1}, {0}}, DType::kF32); };
  const auto matrix = [](Ins x) {
    return dot(
        {5, 7}, 33,
        [&](const Dims& i, int64_t k) {
          return x[0].at({i[0], k});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({k, i[1]});
        });
  };
  Case widened = product("dot_general/f32 result", f32({5, 33}), f32({33, 7}), wide, matrix);
  widened.bounds.bf16_value = 1e-5;  // exact products, f32 sums
  const auto plain = [](In x) { return matmul(x[0], x[1]); };
  const auto long_sums = [](Ins x) {
    return dot(
        {3, 5}, 4099,
        [&](const Dims& i, int64_t k) {
          return x[0].at({i[0], k});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({k, i[1]});
        });
  };
  // In bf16 the sums would drift by far more than the one rounding of the result.
  Case drift =
      product("dot_general/long", f32({3, 4099}, 0, 1), f32({4099, 5}, 0, 1), plain, long_sums);
  drift.gradient = Gradient::kUnchecked;
  drift.bounds.bf16_value = 1.0 / 256;
  return {
      product("dot_general/scrambled", f32({3, 2, 7, 3}), f32({5, 3, 2, 3}), scrambled,
              scrambled_sum),
      product("dot_general/outer", f32({5}), f32({7}), outer, outer_product),
      product("dot_general/inner", f32({33}), f32({33}), inner, inner_product),
      widened,
      drift,
  };
}

std::vector<Case> matmul_cases() {
  const auto right = [](Ins x) {
    return dot(
        {3, 5, 7}, 9,
        [&](const Dims& i, int64_t k) {
          return x[0].at({i[0], i[1], k});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({k, i[2]});
        });
  };
  const auto transposed = [](Ins x) {
    return dot(
        {3, 5, 7}, 9,
        [&](const Dims& i, int64_t k) {
          return x[0].at({i[0], k, i[1]});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({i[0], i[2], k});
        });
  };
  const auto batched = [](Ins x) {
    return dot(
        {2, 3, 5, 7}, 9,
        [&](const Dims& i, int64_t k) {
          return x[0].at({i[0], 0, i[2], k});
        },
        [&](const Dims& i, int64_t k) {
          return x[1].at({i[1], k, i[3]});
        });
  };
  return {
      product(
          "matmul/matrix on the right", f32({3, 5, 9}), f32({9, 7}),
          [](In x) { return matmul(x[0], x[1]); }, right),
      product(
          "matmul/both transposed", f32({3, 9, 5}), f32({3, 7, 9}),
          [](In x) { return matmul(x[0], x[1], {.transpose_lhs = true, .transpose_rhs = true}); },
          transposed),
      product(
          "matmul/broadcast batch", f32({2, 1, 5, 9}), f32({3, 9, 7}),
          [](In x) { return matmul(x[0], x[1]); }, batched),
  };
}

std::vector<ShapeErrorCase> dot_errors() {
  const auto of = [](Dims dims, DType dtype = DType::kF32) {
    return parameter("x", {dtype, std::move(dims)});
  };
  return {
      {"dot_general",
       [=] {
         return dot_general(of({8, 128}), of({64, 32}), {{}, {}, {1}, {0}});
       },
       "dot_general: contracting sizes differ: lhs f32[8,128] dim 1, rhs f32[64,32] dim 0"},
      {"dot_general",
       [=] {
         return dot_general(of({2, 3}), of({4, 3}), {{0}, {0}, {1}, {1}});
       },
       "dot_general: batch sizes differ: lhs f32[2,3] dim 0, rhs f32[4,3] dim 0"},
      {"dot_general",
       [=] {
         return dot_general(of({2, 3}), of({3}, DType::kBF16), {});
       },
       "dot_general: needs f32 or bf16 on both sides, not f32[2,3] and bf16[3]"},
      {"dot_general",
       [=] {
         return dot_general(of({2, 3}), of({3}), {{}, {}, {1}, {}});
       },
       "dot_general: 1 contracting dims of f32[2,3], 0 of f32[3]"},
      {"dot_general",
       [=] {
         return dot_general(of({2, 3}), of({3}), {{}, {}, {2}, {0}});
       },
       "dot_general: contracting dims 2 and 0 are not in lhs f32[2,3] and rhs f32[3]"},
      {"dot_general",
       [=] {
         return dot_general(of({2, 2}), of({2, 2}), {{0}, {0}, {0}, {1}});
       },
       "dot_general: a dim of f32[2,2] appears twice"},
      {"dot_general", [=] { return dot_general(of({2}), of({2}), {}, DType::kBF16); },
       "dot_general: f32[2] x f32[2] cannot give bf16"},
      {"dot_general",
       [=] {
         return matmul(of({2, 3}), of({3}));
       },
       "matmul: f32[2,3] x f32[3]: needs matrices"},
  };
}

std::vector<PlacementCase> dot_placements() {
  const auto lhs = [](AxisPlacement placement) { return placed({DType::kF32, {4, 6}}, placement); };
  const auto rhs = [](AxisPlacement placement) { return placed({DType::kF32, {6, 8}}, placement); };
  const auto batched = [](AxisPlacement placement) {
    return placed({DType::kF32, {2, 4, 4}}, placement);
  };
  constexpr AxisPlacement kAnywhere = sharded(AxisPlacement::kNoDim);
  return {
      {"dot_general", [=] { return matmul(lhs(sharded(1)), rhs(sharded(0))); },
       "data: R, tensor: P"},
      {"dot_general", [=] { return matmul(lhs(sharded(0)), rhs(kReplicated)); },
       "data: R, tensor: S(0)"},
      {"dot_general", [=] { return matmul(lhs(kReplicated), rhs(sharded(1))); },
       "data: R, tensor: S(1)"},
      {"dot_general", [=] { return matmul(lhs(kPartial), rhs(kReplicated)); },
       "data: R, tensor: P"},
      {"dot_general", [=] { return matmul(lhs(kAnywhere), rhs(kReplicated)); },
       "data: R, tensor: S"},
      {"dot_general", [=] { return matmul(batched(sharded(0)), batched(sharded(0))); },
       "data: R, tensor: S(0)"},
      {"dot_general", [=] { return matmul(batched(kReplicated), batched(sharded(2))); },
       "data: R, tensor: S(2)"},
      {"dot_general", [=] { return matmul(lhs(kPartial), rhs(kPartial)); },
       "dot_general: f32[4,6] placed data: R, tensor: P and f32[6,8] placed data: R, tensor: P are "
       "incompatible"},
      {"dot_general", [=] { return matmul(lhs(sharded(1)), rhs(kReplicated)); },
       "dot_general: f32[4,6] placed data: R, tensor: S(1) and f32[6,8] placed replicated are "
       "incompatible"},
      {"dot_general", [=] { return matmul(lhs(sharded(0)), rhs(sharded(1))); },
       "dot_general: f32[4,6] placed data: R, tensor: S(0) and f32[6,8] placed data: R, tensor: "
       "S(1) are incompatible"},
      {"dot_general", [=] { return matmul(batched(sharded(0)), batched(kReplicated)); },
       "dot_general: f32[2,4,4] placed data: R, tensor: S(0) and f32[2,4,4] placed replicated are "
       "incompatible"},
  };
}

TEST(Dot, CountsTwoOperationsAProduct) {
  const Value x = parameter("x", {DType::kF32, {3, 5, 9}});
  const Value y = matmul(x, parameter("y", {DType::kF32, {9, 7}}));
  const Cost cost = y.node().op().cost(y.node());
  EXPECT_EQ(cost.flops, 2.0 * 3 * 5 * 9 * 7);
  EXPECT_EQ(cost.bytes, 4.0 * (3 * 5 * 9 + 9 * 7 + 3 * 5 * 7));
}

}  // namespace

Family dot_family() {
  Family family{"Dot", general_cases(), dot_errors(), dot_placements()};
  for (const Case& test : matmul_cases()) family.cases.push_back(test);
  return family;
}

}  // namespace hum::graph::op_test
