// Ops about placements: cases for the op table (on a mesh of one device all are the identity), and
// what they do on four.
#include "graph/ops/collectives.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/ops/op_test.h"
#include "graph/ops/place_as.h"
#include "runtime/testing.h"

namespace hum::graph::op_test {
namespace {

using runtime::HostTensor;

constexpr Axis kAxes[] = {Axis::kData, Axis::kTensor};
const Shape kMatrix{DType::kF32, {4, 8}};

Placement on(Axis axis, AxisPlacement placement) {
  Placement result;
  result[axis] = placement;
  return result;
}

// On one device every collective gives its input back, and so does its gradient.
Case identity_case(std::string_view op, AxisPlacement from,
                   std::function<Value(const Value&)> build) {
  return {.name = std::string(op) + " on one device",
          .op = op,
          .inputs = {f32({4, 8})},
          .build = [=](auto in) { return Values{build(place_as(in[0], on(Axis::kTensor, from)))}; },
          .reference = [](auto in) { return Arrays{in[0]}; }};
}

Value replica_zero() { return constant(0, {DType::kI32, {}}); }

std::vector<Case> cases() {
  const Axis axis = Axis::kTensor;
  return {
      {.name = "placed_zeros",
       .op = "place_as",
       .inputs = {},
       .build =
           [](auto) {
             return Values{placed_zeros({DType::kF32, {2, 3}}, on(axis, sharded(1))),
                           placed_zeros({DType::kI1, {}}, on(axis, kPartial))};
           },
       .reference =
           [](auto) {
             return Arrays{{{2, 3}, std::vector<double>(6, 0)}, {{}, {0}}};
           }},
      identity_case("place_as", kPartial, [](const Value& x) { return x; }),
      identity_case("all_reduce", kPartial, [](const Value& x) { return all_reduce(x, axis); }),
      identity_case("all_gather", sharded(1),
                    [](const Value& x) { return all_gather(x, axis, 1, {}); }),
      identity_case("reduce_scatter", kPartial,
                    [](const Value& x) { return reduce_scatter(x, axis, 1, {}); }),
      identity_case("all_to_all", sharded(0),
                    [](const Value& x) { return all_to_all(x, axis, 1, 0, {}); }),
      identity_case("collective_permute", sharded(0),
                    [](const Value& x) { return collective_permute(x, axis, 1); }),
      identity_case("shard", kReplicated,
                    [](const Value& x) { return shard(x, axis, 1, {}, replica_zero()); }),
  };
}

std::vector<ShapeErrorCase> shape_errors() {
  const auto x = [](AxisPlacement placement) { return placed({DType::kF32, {3, 4}}, placement); };
  const Mesh two{1, 2};
  return {
      {"all_reduce",
       [] {
         return all_reduce(placed({DType::kI1, {3}}, kPartial), Axis::kTensor);
       },
       "all_reduce: needs numbers, not i1[3]"},
      {"all_gather", [=] { return all_gather(x(sharded(0)), Axis::kTensor, 2, two); },
       "all_gather: dim 2 is out of range for f32[3,4]"},
      {"reduce_scatter", [=] { return reduce_scatter(x(kPartial), Axis::kTensor, 0, two); },
       "reduce_scatter: dim 0 of f32[3,4] does not split into 2 parts"},
      {"all_to_all", [=] { return all_to_all(x(sharded(1)), Axis::kTensor, 0, 1, two); },
       "all_to_all: dim 0 of f32[3,4] does not split into 2 parts"},
      {"shard",
       [=] {
         return shard(x(kReplicated), Axis::kTensor, 0, two, parameter("id", {DType::kI32, {1}}));
       },
       "shard: the replica id is i32[], not i32[1]"},
      {"shard", [=] { return shard(x(kReplicated), Axis::kTensor, 0, two, replica_zero()); },
       "shard: dim 0 of f32[3,4] does not split into 2 parts"},
  };
}

std::vector<PlacementCase> placements() {
  const Mesh two{2, 2};
  const auto x = [](AxisPlacement tensor, AxisPlacement data = kReplicated) {
    return placed(kMatrix, tensor, data);
  };
  return {
      {"all_reduce", [=] { return all_reduce(x(kPartial, sharded(0)), Axis::kTensor); },
       "data: S(0), tensor: R"},
      {"all_reduce", [=] { return all_reduce(x(kReplicated), Axis::kTensor); },
       "all_reduce over the tensor axis: f32[4,8] is placed replicated, not a partial sum"},
      {"all_reduce",
       [=] { return all_reduce(reduce_max(x(sharded(1)), {1}), Axis::kTensor, Reduction::kMax); },
       "replicated"},
      {"all_reduce", [=] { return all_reduce(x(kPartial), Axis::kTensor, Reduction::kMax); },
       "all_reduce: the maximum of partial sums (data: R, tensor: P) is undefined"},
      {"all_gather", [=] { return all_gather(x(sharded(1)), Axis::kTensor, 1, two); },
       "replicated"},
      {"all_gather", [=] { return all_gather(x(sharded(1)), Axis::kTensor, 0, two); },
       "all_gather over the tensor axis: f32[4,8] is placed data: R, tensor: S(1), not sharded in "
       "dim 0"},
      {"reduce_scatter", [=] { return reduce_scatter(x(kPartial), Axis::kTensor, 1, two); },
       "data: R, tensor: S(1)"},
      {"reduce_scatter",
       [=] { return reduce_scatter(x(kPartial, sharded(1)), Axis::kTensor, 1, two); },
       "reduce_scatter: dim 1 of f32[4,8] is already sharded (data: S(1), tensor: P)"},
      {"all_to_all", [=] { return all_to_all(x(sharded(1)), Axis::kTensor, 0, 1, two); },
       "data: R, tensor: S(0)"},
      {"collective_permute", [=] { return collective_permute(x(kReplicated), Axis::kTensor, 1); },
       "collective_permute over the tensor axis: f32[4,8] is placed replicated, not sharded"},
      {"shard", [=] { return shard(x(kReplicated), Axis::kTensor, 1, two, replica_zero()); },
       "data: R, tensor: S(1)"},
      {"shard", [=] { return shard(x(kPartial), Axis::kTensor, 1, two, replica_zero()); },
       "shard over the tensor axis: f32[4,8] is placed data: R, tensor: P, not replicated"},
  };
}

// Device r holds r * 100 + element number, as f32 or bf16 (small numbers: exact in both).
std::vector<HostTensor> inputs_of(int replica, const Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) values.push_back(static_cast<float>(replica + i));
  return {HostTensor::from_floats(shape.dtype, shape.dims, values),
          HostTensor::scalar<int32_t>(replica)};
}

// What `build` makes of those on a mesh of 2 x 2: result[replica].
std::vector<std::vector<float>> on_four(
    const Shape& shape, Axis axis, AxisPlacement from,
    const std::function<Value(const Value& x, const Value& replica)>& build) {
  const Value x = parameter("x", shape, on(axis, from)),
              replica = parameter("replica", {DType::kI32, {}});
  const Function function{
      .parameters = {x, replica}, .results = {build(x, replica)}, .mesh = {2, 2}};
  std::vector<std::vector<HostTensor>> inputs;
  for (int r = 0; r < 4; ++r) inputs.push_back(inputs_of(r, shape));
  std::vector<std::vector<float>> results;
  for (const auto& outputs : runtime::run_on_devices(function, inputs)) {
    results.push_back(outputs[0].to_floats());
  }
  return results;
}

int position(int replica, Axis axis) { return axis == Axis::kTensor ? replica % 2 : replica / 2; }
// The other replica along the axis.
int partner(int replica, Axis axis) { return axis == Axis::kTensor ? replica ^ 1 : replica ^ 2; }

TEST(AllReduce, SumsAlongItsAxisInEveryType) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const Axis axis : kAxes) {
      const auto results = on_four({dtype, {2, 2}}, axis, kPartial,
                                   [&](auto& x, auto&) { return all_reduce(x, axis); });
      for (int r = 0; r < 4; ++r) {
        for (int i = 0; i < 4; ++i) {
          EXPECT_EQ(results[static_cast<size_t>(r)][static_cast<size_t>(i)],
                    r + partner(r, axis) + 2 * i);
        }
      }
    }
  }
}

TEST(AllReduce, TakesTheMaximum) {
  const auto results =
      on_four({DType::kF32, {2}}, Axis::kTensor, sharded(AxisPlacement::kNoDim),
              [&](auto& x, auto&) { return all_reduce(x, Axis::kTensor, Reduction::kMax); });
  EXPECT_EQ(results[0][0], 1);
  EXPECT_EQ(results[3][1], 4);
}

TEST(AllGather, PutsShardsOneAfterAnother) {
  for (const Axis axis : kAxes) {
    const auto results = on_four({DType::kF32, {2, 1}}, axis, sharded(1), [&](auto& x, auto&) {
      return all_gather(x, axis, 1, {2, 2});
    });
    for (int r = 0; r < 4; ++r) {
      const auto low = static_cast<float>(std::min(r, partner(r, axis))),
                 high = static_cast<float>(std::max(r, partner(r, axis)));
      EXPECT_EQ(results[static_cast<size_t>(r)],
                (std::vector<float>{low, high, low + 1, high + 1}));
    }
  }
}

TEST(ReduceScatter, GivesEachItsPartOfTheSum) {
  for (const Axis axis : kAxes) {
    const auto results = on_four({DType::kF32, {2}}, axis, kPartial, [&](auto& x, auto&) {
      return reduce_scatter(x, axis, 0, {2, 2});
    });
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(results[static_cast<size_t>(r)][0], r + partner(r, axis) + 2 * position(r, axis));
    }
  }
}

TEST(AllToAll, TurnsOneCutIntoTheOther) {
  for (const Axis axis : kAxes) {
    const auto results = on_four({DType::kF32, {1, 2}}, axis, sharded(0), [&](auto& x, auto&) {
      return all_to_all(x, axis, 1, 0, {2, 2});
    });
    for (int r = 0; r < 4; ++r) {
      const auto column = static_cast<float>(position(r, axis)),
                 low = static_cast<float>(std::min(r, partner(r, axis))),
                 high = static_cast<float>(std::max(r, partner(r, axis)));
      EXPECT_EQ(results[static_cast<size_t>(r)], (std::vector<float>{low + column, high + column}));
    }
  }
}

TEST(CollectivePermute, HandsShardsOnRoundTheRing) {
  const Value x = parameter("x", {DType::kF32, {}}, on(Axis::kTensor, sharded(0)));
  Function function{.parameters = {x},
                    .results = {collective_permute(x, Axis::kTensor, 1),
                                collective_permute(x, Axis::kTensor, -1)},
                    .mesh = {1, 4}};
  std::vector<std::vector<HostTensor>> inputs;
  for (int r = 0; r < 4; ++r) inputs.push_back({HostTensor::scalar(static_cast<float>(r))});
  const auto results = runtime::run_on_devices(function, inputs);
  for (int r = 0; r < 4; ++r) {
    const auto& outputs = results[static_cast<size_t>(r)];
    EXPECT_EQ(outputs[0].as<float>()[0], (r + 3) % 4);
    EXPECT_EQ(outputs[1].as<float>()[0], (r + 1) % 4);
  }
}

TEST(Shard, KeepsTheOwnPart) {
  for (const Axis axis : kAxes) {
    const auto results =
        on_four({DType::kF32, {1, 4}}, axis, kReplicated, [&](auto& x, auto& replica) {
          return shard(x, axis, 1, {2, 2}, replica);
        });
    for (int r = 0; r < 4; ++r) {
      const auto first = static_cast<float>(r + 2 * position(r, axis));
      EXPECT_EQ(results[static_cast<size_t>(r)], (std::vector<float>{first, first + 1}));
    }
  }
}

TEST(Collectives, RefuseAMeshThatIsNotTheFunctions) {
  const Value x = parameter("x", kMatrix, on(Axis::kTensor, sharded(1)));
  const Value y = all_gather(x, Axis::kTensor, 1, {1, 2});
  EXPECT_THROW(runtime::evaluate({y}, {x}, std::vector{HostTensor(kMatrix)}), Error);
}

}  // namespace

Family placement_family() {
  return {.name = "Placement",
          .cases = cases(),
          .shape_errors = shape_errors(),
          .placements = placements(),
          .without_shape_error = {{"place_as", "takes any input"},
                                  {"collective_permute", "takes any input"}}};
}

}  // namespace hum::graph::op_test
