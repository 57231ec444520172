// Lookups, scatter-adds and windows at run-time places.
#include <algorithm>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;

int64_t whole(double number) { return static_cast<int64_t>(number); }

std::vector<Case> take_cases() {
  const auto rows = [](Ins x) {
    return Arrays{make_array({2, 4, 3}, [&](const Dims& i) {
      return x[0].at({whole(x[1].at({i[0], i[1]})), i[2]});
    })};
  };
  const auto middle = [](Ins x) {
    return Arrays{make_array({3, 6, 7}, [&](const Dims& i) {
      return x[0].at({i[0], whole(x[1].at({i[1]})), i[2]});
    })};
  };
  const auto one = [](Ins x) {
    return Arrays{make_array({3}, [&](const Dims& i) {
      return x[0].at({whole(x[1].data[0]), i[0]});
    })};
  };
  const Input unsigned_ids = {{DType::kU32, {}}, 0, 4};
  return {
      {"take/rows",
       "gather",
       {f32({5, 3}), i32({2, 4}, 0, 4)},
       [](In x) { return Values{take(x[0], x[1])}; },
       rows},
      {"take/middle dim",
       "gather",
       {f32({3, 5, 7}), i32({6}, 0, 4)},
       [](In x) { return Values{take(x[0], x[1], 1)}; },
       middle},
      {"take/one row, ui32",
       "gather",
       {f32({5, 3}), unsigned_ids},
       [](In x) { return Values{take(x[0], x[1])}; },
       one},
      {"take/i32 table",
       "gather",
       {i32({5, 3}), i32({2, 4}, 0, 4)},
       [](In x) { return Values{take(x[0], x[1])}; },
       rows},
  };
}

std::vector<Case> scatter_cases() {
  const auto rows = [](Ins x) {
    Array result = x[0];
    for (int64_t i = 0; i < x[1].size(0); ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        result.data[static_cast<size_t>(whole(x[1].at({i})) * 3 + j)] += x[2].at({i, j});
      }
    }
    return Arrays{result};
  };
  const auto last = [](Ins x) {
    Array result = x[0];
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t i = 0; i < 2; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          result.data[static_cast<size_t>(row * 5 + whole(x[1].at({i, j})))] +=
              x[2].at({row, i, j});
        }
      }
    }
    return Arrays{result};
  };
  return {
      {"scatter_add/rows, equal ids add up",
       "scatter_add",
       {f32({5, 3}), i32({11}, 0, 4), f32({11, 3})},
       [](In x) { return Values{scatter_add(x[0], x[1], x[2])}; },
       rows},
      {"scatter_add/last dim",
       "scatter_add",
       {f32({3, 5}), i32({2, 4}, 0, 4), f32({3, 2, 4})},
       [](In x) { return Values{scatter_add(x[0], x[1], x[2], -1)}; },
       last},
  };
}

std::vector<Case> made_of_gather_cases() {
  const auto along = [](Ins x) {
    return Arrays{make_array({3, 2, 7}, [&](const Dims& i) {
      return x[0].at({i[0], whole(x[1].at(i)), i[2]});
    })};
  };
  const auto hot = [](Ins x) {
    return Arrays{make_array({2, 3, 5}, [&](const Dims& i) {
      return whole(x[0].at({i[0], i[1]})) == i[2] ? 1.0 : 0.0;
    })};
  };
  return {
      {"take_along_dim",
       "gather",
       {f32({3, 5, 7}), i32({3, 2, 7}, 0, 4)},
       [](In x) { return Values{take_along_dim(x[0], x[1], 1)}; },
       along},
      {"one_hot",
       "",
       {i32({2, 3}, -1, 5)},
       [](In x) { return Values{one_hot(x[0], 5)}; },
       hot,
       Gradient::kNone},
  };
}

// The first element of a window, moved inside.
int64_t clamped(const Array& start, int64_t size, int64_t window) {
  return std::clamp<int64_t>(whole(start.data[0]), 0, size - window);
}

Input start_at(double place) { return {{DType::kI32, {}}, 0, 0, {place}}; }

Case slice_at(std::string name, double row, double column) {
  const auto reference = [](Ins x) {
    const int64_t r = clamped(x[1], 5, 3), c = clamped(x[2], 7, 2);
    return Arrays{make_array({3, 2}, [&](const Dims& i) { return x[0].at({r + i[0], c + i[1]}); })};
  };
  return {std::move(name),
          "dynamic_slice",
          {f32({5, 7}), start_at(row), start_at(column)},
          [](In x) {
            return Values{dynamic_slice(x[0], {x[1], x[2]}, {3, 2})};
          },
          reference};
}

Case update_at(std::string name, double row, double column) {
  const auto reference = [](Ins x) {
    const int64_t r = clamped(x[2], 5, 3), c = clamped(x[3], 7, 2);
    return Arrays{make_array({5, 7}, [&](const Dims& i) {
      const bool inside = i[0] >= r && i[0] < r + 3 && i[1] >= c && i[1] < c + 2;
      return inside ? x[1].at({i[0] - r, i[1] - c}) : x[0].at(i);
    })};
  };
  return {std::move(name),
          "dynamic_update_slice",
          {f32({5, 7}), f32({3, 2}), start_at(row), start_at(column)},
          [](In x) {
            return Values{dynamic_update_slice(x[0], x[1], {x[2], x[3]})};
          },
          reference};
}

std::vector<Case> window_cases() {
  const auto taken = [](Ins x) {
    return Arrays{make_array({5, 3}, [&](const Dims& i) {
      return x[0].at({i[0], whole(x[1].data[0]) + i[1]});
    })};
  };
  const auto written = [](Ins x) {
    const int64_t at = whole(x[2].data[0]);
    return Arrays{make_array({5, 7}, [&](const Dims& i) {
      return i[1] == at ? x[1].at({i[0], 0}) : x[0].at(i);
    })};
  };
  return {
      slice_at("dynamic_slice", 1, 4),
      slice_at("dynamic_slice/moved inside", 9, -3),
      update_at("dynamic_update_slice", 1, 4),
      update_at("dynamic_update_slice/moved inside", -1, 6),
      {"dynamic_slice_in_dim",
       "dynamic_slice",
       {f32({5, 7}), start_at(2)},
       [](In x) { return Values{dynamic_slice_in_dim(x[0], x[1], 3, 1)}; },
       taken},
      {"dynamic_update_slice_in_dim",
       "dynamic_update_slice",
       {f32({5, 7}), f32({5, 1}), start_at(6)},
       [](In x) { return Values{dynamic_update_slice_in_dim(x[0], x[1], x[2], 1)}; },
       written},
  };
}

std::vector<ShapeErrorCase> indexing_errors() {
  const auto of = [](Dims dims, DType dtype = DType::kF32) {
    return parameter("x", {dtype, std::move(dims)});
  };
  const auto start = [=] { return of({}, DType::kI32); };
  return {
      {"gather",
       [=] {
         return take(of({5, 3}), of({2}));
       },
       "gather: ids are f32[2], not i32 or ui32"},
      {"gather",
       [=] {
         return take(of({5, 3}), of({2}, DType::kI32), 2);
       },
       "take: dim 2 is out of range for f32[5,3]"},
      {"gather",
       [=] {
         return take_along_dim(of({5, 3}), of({4, 3}, DType::kI32), 1);
       },
       "take_along_dim: ids i32[4,3] do not fit f32[5,3] in a dim other than 1"},
      {"scatter_add",
       [=] {
         return scatter_add(of({5, 3}), of({2}, DType::kI32), of({2, 4}));
       },
       "scatter_add: updates of f32[5,3] at ids i32[2] are f32[2,4], not f32[2,3]"},
      {"dynamic_slice",
       [=] {
         return dynamic_slice(of({5, 3}), {start()}, {2, 2});
       },
       "dynamic_slice: f32[5,3] needs 2 starts, got 1"},
      {"dynamic_slice",
       [=] {
         return dynamic_slice(of({5, 3}), {start(), start()}, {2, 4});
       },
       "dynamic_slice: a window of [2,4] does not fit into f32[5,3]"},
      {"dynamic_slice", [=] { return dynamic_slice(of({5}), {of({})}, {2}); },
       "dynamic_slice: a start is f32[], not a scalar i32 or ui32"},
      {"dynamic_update_slice", [=] { return dynamic_update_slice(of({5}), of({6}), {start()}); },
       "dynamic_update_slice: a window of [6] does not fit into f32[5]"},
      {"dynamic_update_slice",
       [=] { return dynamic_update_slice(of({5}), of({2}, DType::kBF16), {start()}); },
       "dynamic_update_slice: an update of f32[5] is bf16[2]"},
  };
}

std::vector<PlacementCase> indexing_placements() {
  const auto table = [](AxisPlacement p) { return placed({DType::kF32, {5, 6}}, p); };
  const auto ids = [](AxisPlacement p) { return placed({DType::kI32, {2, 4}}, p); };
  const auto rows = [](AxisPlacement p) { return placed({DType::kF32, {2, 4, 6}}, p); };
  const auto start = [] { return placed({DType::kI32, {}}, kReplicated); };
  const auto zeros = [] { return constant(0, {DType::kF32, {5, 6}}); };
  return {
      {"gather", [=] { return take(table(kReplicated), ids(sharded(1))); },
       "data: R, tensor: S(1)"},
      {"gather", [=] { return take(table(sharded(1)), ids(kReplicated)); },
       "data: R, tensor: S(2)"},
      {"gather", [=] { return take(table(sharded(0)), ids(kReplicated)); },
       "gather: f32[5,6] is placed data: R, tensor: S(0): dim 0 is sharded, and an id may name a "
       "row of "
       "another device"},
      {"gather", [=] { return take(table(sharded(1)), ids(sharded(0))); },
       "gather: table f32[5,6] placed data: R, tensor: S(1) and ids i32[2,4] placed data: R, "
       "tensor: S(0) are incompatible"},
      // The gradient of an embedding under data parallelism: each device has its part.
      {"scatter_add", [=] { return scatter_add(zeros(), ids(sharded(0)), rows(sharded(0))); },
       "data: R, tensor: P"},
      {"scatter_add", [=] { return scatter_add(zeros(), ids(kReplicated), rows(kPartial)); },
       "data: R, tensor: P"},
      {"scatter_add",
       [=] { return scatter_add(table(sharded(1)), ids(kReplicated), rows(sharded(2))); },
       "data: R, tensor: S(1)"},
      {"scatter_add",
       [=] { return scatter_add(table(kReplicated), ids(sharded(0)), rows(sharded(0))); },
       "scatter_add: x f32[5,6] placed replicated, ids i32[2,4] placed data: R, tensor: S(0) and "
       "updates f32[2,4,6] placed data: R, tensor: S(0) are incompatible"},
      {"dynamic_slice", [=] { return dynamic_slice_in_dim(table(sharded(1)), start(), 2, 0); },
       "data: R, tensor: S(1)"},
      {"dynamic_slice", [=] { return dynamic_slice_in_dim(table(sharded(0)), start(), 2, 0); },
       "dynamic_slice: f32[5,6] is placed data: R, tensor: S(0): dim 0 is sharded, and each device "
       "holds a different part of it"},
      {"dynamic_update_slice",
       [=] {
         return dynamic_update_slice_in_dim(zeros(), placed({DType::kF32, {2, 6}}, kPartial),
                                            start(), 0);
       },
       "data: R, tensor: P"},
      {"dynamic_update_slice",
       [=] {
         return dynamic_update_slice_in_dim(table(kReplicated),
                                            placed({DType::kF32, {2, 6}}, kPartial), start(), 0);
       },
       "dynamic_update_slice: f32[5,6] is placed replicated, its update data: R, tensor: P"},
  };
}

}  // namespace

Family indexing_family() {
  Family family{"Indexing", take_cases(), indexing_errors(), indexing_placements()};
  for (const auto& more : {scatter_cases(), made_of_gather_cases(), window_cases()}) {
    family.cases.insert(family.cases.end(), more.begin(), more.end());
  }
  return family;
}

}  // namespace hum::graph::op_test
