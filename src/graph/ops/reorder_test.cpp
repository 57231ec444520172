// reshape, transpose, reverse and broadcast_in_dim.
#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;

std::vector<Case> reorder_cases() {
  const Input x = f32({3, 5, 7});
  const auto flat = [](const Dims& dims) {
    return [dims](Ins in) { return Arrays{{dims, in[0].data}}; };
  };
  const auto transposed = [](Ins in) {
    return Arrays{make_array({7, 3, 5}, [&](const Dims& i) {
      return in[0].at({i[1], i[2], i[0]});
    })};
  };
  const auto swapped = [](Ins in) {
    return Arrays{make_array({3, 7, 5}, [&](const Dims& i) {
      return in[0].at({i[0], i[2], i[1]});
    })};
  };
  const auto reversed = [](Ins in) {
    return Arrays{make_array({3, 5, 7}, [&](const Dims& i) {
      return in[0].at({2 - i[0], i[1], 6 - i[2]});
    })};
  };
  return {
      {"reshape",
       "reshape",
       {x},
       [](In in) {
         return Values{reshape(in[0], {7, 15})};
       },
       flat({7, 15})},
      {"expand_dims",
       "reshape",
       {x},
       [](In in) { return Values{expand_dims(in[0], -1)}; },
       flat({3, 5, 7, 1})},
      {"squeeze",
       "reshape",
       {f32({3, 1, 5, 1})},
       [](In in) {
         return Values{squeeze(in[0], {1, -1})};
       },
       flat({3, 5})},
      {"transpose",
       "transpose",
       {x},
       [](In in) {
         return Values{transpose(in[0], {2, 0, 1})};
       },
       transposed},
      {"swap_dims",
       "transpose",
       {x},
       [](In in) { return Values{swap_dims(in[0], -1, 1)}; },
       swapped},
      {"reverse",
       "reverse",
       {x},
       [](In in) {
         return Values{reverse(in[0], {0, -1})};
       },
       reversed},
  };
}

std::vector<Case> broadcast_cases() {
  const auto repeated = [](Ins in) {
    return Arrays{make_array({3, 4, 5}, [&](const Dims& i) { return in[0].at({i[0], 0}); })};
  };
  const auto rows = [](Ins in) {
    return Arrays{make_array({4, 3, 5}, [&](const Dims& i) { return in[0].at({i[1], i[2]}); })};
  };
  return {
      {"broadcast_in_dim",
       "broadcast_in_dim",
       {f32({3, 1})},
       [](In in) {
         return Values{broadcast_in_dim(in[0], {3, 4, 5}, {0, 2})};
       },
       repeated},
      {"broadcast_to",
       "broadcast_in_dim",
       {f32({3, 5})},
       [](In in) {
         return Values{broadcast_to(in[0], {4, 3, 5})};
       },
       rows},
  };
}

std::vector<ShapeErrorCase> reorder_errors() {
  const auto x = [] { return parameter("x", {DType::kF32, {2, 3}}); };
  return {
      {"reshape",
       [=] {
         return reshape(x(), {4, 2});
       },
       "reshape: f32[2,3] has 6 elements, [4,2] has 8"},
      {"reshape", [=] { return squeeze(x(), {1}); }, "squeeze: dim 1 of f32[2,3] is not of size 1"},
      {"reshape", [=] { return expand_dims(x(), 4); },
       "expand_dims: f32[2,3] has no place for dim 4"},
      {"transpose",
       [=] {
         return transpose(x(), {0, 0});
       },
       "transpose: [0,0] is not a permutation of the dims of f32[2,3]"},
      {"reverse", [=] { return reverse(x(), {2}); }, "reverse: dim 2 is out of range for f32[2,3]"},
      {"reverse",
       [=] {
         return reverse(x(), {0, -2});
       },
       "reverse: a dim appears twice in [0,0]"},
      {"broadcast_in_dim",
       [=] {
         return broadcast_in_dim(x(), {2, 5}, {0, 1});
       },
       "broadcast_in_dim: dim 1 of f32[2,3] does not fit size 5 of [2,5]"},
      {"broadcast_in_dim", [=] { return broadcast_to(x(), {3}); },
       "broadcast_to: f32[2,3] has more dims than [3]"},
  };
}

std::vector<PlacementCase> reorder_placements() {
  const auto at = [](AxisPlacement placement) { return placed({DType::kF32, {4, 6}}, placement); };
  const auto three = [](AxisPlacement placement) {
    return placed({DType::kF32, {2, 4, 6}}, placement);
  };
  return {
      {"reshape",
       [=] {
         return reshape(at(sharded(0)), {2, 2, 6});
       },
       "data: R, tensor: S(0)"},
      {"reshape",
       [=] {
         return reshape(at(sharded(1)), {4, 2, 3});
       },
       "data: R, tensor: S(1)"},
      {"reshape",
       [=] {
         return reshape(three(sharded(2)), {8, 6});
       },
       "data: R, tensor: S(1)"},
      {"reshape", [=] { return reshape(at(sharded(1)), {24}); },
       "reshape: f32[4,6] sharded in dim 1 cannot become f32[24]"},
      {"reshape", [=] { return reshape(at(kPartial), {24}); }, "data: R, tensor: P"},
      {"transpose",
       [=] {
         return transpose(three(sharded(2)), {2, 0, 1});
       },
       "data: R, tensor: S(0)"},
      {"reverse", [=] { return reverse(at(sharded(0)), {1}); }, "data: R, tensor: S(0)"},
      {"reverse", [=] { return reverse(at(sharded(1)), {1}); },
       "reverse: f32[4,6] is placed data: R, tensor: S(1): dim 1 is sharded, and reversing would "
       "swap the devices' parts"},
      {"broadcast_in_dim",
       [=] {
         return broadcast_to(at(sharded(1)), {3, 4, 6});
       },
       "data: R, tensor: S(2)"},
      {"broadcast_in_dim",
       [=] {
         return broadcast_to(placed({DType::kF32, {1, 6}}, sharded(0)), {4, 6});
       },
       "broadcast_in_dim: f32[1,6] sharded in dim 0 cannot be repeated along it"},
  };
}

}  // namespace

Family reorder_family() {
  Family family{"Reorder", reorder_cases(), reorder_errors(), reorder_placements()};
  for (const Case& test : broadcast_cases()) family.cases.push_back(test);
  return family;
}

}  // namespace hum::graph::op_test
