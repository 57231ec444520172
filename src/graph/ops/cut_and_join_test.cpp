// concatenate, slice and pad.
#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;

Dims moved(const Dims& index, size_t dim, int64_t by) {
  Dims result = index;
  result[dim] += by;
  return result;
}

std::vector<Case> join_cases() {
  const auto joined = [](Ins in) {
    return Arrays{make_array({3, 13, 2}, [&](const Dims& i) {
      if (i[1] < 5) return in[0].at(i);
      return i[1] < 6 ? in[1].at(moved(i, 1, -5)) : in[2].at(moved(i, 1, -6));
    })};
  };
  const auto stacked = [](Ins in) {
    return Arrays{make_array({3, 2, 5}, [&](const Dims& i) {
      return in[static_cast<size_t>(i[1])].at({i[0], i[2]});
    })};
  };
  const auto parts = [](Ins in) {
    const auto part = [&](int64_t start, int64_t size) {
      return make_array({3, size}, [&](const Dims& i) { return in[0].at(moved(i, 1, start)); });
    };
    return Arrays{part(0, 2), part(2, 4), part(6, 1)};
  };
  return {
      {"concatenate",
       "concatenate",
       {f32({3, 5, 2}), f32({3, 1, 2}), f32({3, 7, 2})},
       [](In in) {
         return Values{concat({in[0], in[1], in[2]}, -2)};
       },
       joined},
      {"stack",
       "concatenate",
       {f32({3, 5}), f32({3, 5})},
       [](In in) {
         return Values{stack({in[0], in[1]}, 1)};
       },
       stacked},
      {"split",
       "slice",
       {f32({3, 7})},
       [](In in) {
         return split(in[0], Dims{2, 4, 1}, 1);
       },
       parts},
  };
}

std::vector<Case> slice_cases() {
  const auto strided = [](Ins in) {
    return Arrays{make_array({2, 5, 3}, [&](const Dims& i) {
      return in[0].at({i[0] + 1, i[1], 1 + 2 * i[2]});
    })};
  };
  const auto tail = [](Ins in) {
    return Arrays{make_array({3, 3}, [&](const Dims& i) { return in[0].at(moved(i, 1, 3)); })};
  };
  return {
      {"slice/strided",
       "slice",
       {f32({3, 5, 7})},
       [](In in) {
         return Values{slice(in[0], {1, 0, 1}, {3, 5, 7}, {1, 1, 2})};
       },
       strided},
      {"slice_in_dim/from the end",
       "slice",
       {f32({3, 7})},
       [](In in) { return Values{slice_in_dim(in[0], -1, -4, -1)}; },
       tail},
      {"slice/i1",
       "slice",
       {{{DType::kI1, {3, 7}}}},
       [](In in) { return Values{slice_in_dim(in[0], 1, 3, 6)}; },
       tail},
  };
}

// What pad means, element by element.
Array padded(const Array& x, double value, const Dims& low, const Dims& high,
             const Dims& interior) {
  Dims dims;
  for (size_t d = 0; d < low.size(); ++d) {
    dims.push_back(low[d] + x.dims[d] + (x.dims[d] - 1) * interior[d] + high[d]);
  }
  return make_array(dims, [&](const Dims& index) {
    Dims from = index;
    for (size_t d = 0; d < low.size(); ++d) {
      const int64_t at = index[d] - low[d], step = interior[d] + 1;
      if (at < 0 || at % step != 0 || at / step >= x.dims[d]) return value;
      from[d] = at / step;
    }
    return x.at(from);
  });
}

Case pad_case(std::string name, Dims low, Dims high, Dims interior) {
  return {.name = std::move(name),
          .op = "pad",
          .inputs = {f32({3, 5}), f32({})},
          .build = [=](In in) { return Values{pad(in[0], in[1], low, high, interior)}; },
          .reference =
              [=](Ins in) { return Arrays{padded(in[0], in[1].data[0], low, high, interior)}; }};
}

std::vector<Case> pad_cases() {
  return {
      pad_case("pad", {1, 0}, {2, 3}, {0, 0}),
      pad_case("pad/interior", {0, 1}, {0, 2}, {1, 2}),
      pad_case("pad/negative", {-1, 2}, {1, -3}, {0, 0}),
      pad_case("pad/negative with interior", {-1, -2}, {0, -1}, {1, 2}),
      {"pad/number",
       "pad",
       {i32({3, 5})},
       [](In in) { return Values{pad_in_dim(in[0], 7, 1, 2, 1)}; },
       [](Ins in) {
         return Arrays{padded(in[0], 7, {0, 2}, {0, 1}, {0, 0})};
       }},
  };
}

std::vector<ShapeErrorCase> cut_and_join_errors() {
  const auto x = [] { return parameter("x", {DType::kF32, {2, 3}}); };
  const auto wide = [] { return parameter("x", {DType::kF32, {4, 4}}); };
  return {
      {"concatenate",
       [=] {
         return concatenate({x(), wide()}, 1);
       },
       "concatenate: f32[4,4] does not fit f32[2,3] in a dim other than 1"},
      {"concatenate", [=] { return concatenate({}, 1); }, "concatenate: no values"},
      {"slice",
       [=] {
         return slice(x(), {0, 1}, {2, 4});
       },
       "slice: [1:4:1] is empty or outside dim 1 of f32[2,3]"},
      {"slice", [=] { return slice(x(), {0}, {2}); },
       "slice: f32[2,3] needs 2 starts, limits and strides, got 1, 1 and 1"},
      {"slice", [=] { return split(x(), 2, 1)[0]; },
       "split: dim 1 of f32[2,3] has no 2 equal parts"},
      {"slice",
       [=] {
         return split(x(), Dims{1, 1}, 1)[0];
       },
       "split: [1,1] is not all of dim 1 of f32[2,3]"},
      {"pad",
       [=] {
         return pad(x(), 0, {0, -2}, {0, -1});
       },
       "pad: low -2, high -1, interior 0 leave nothing of dim 1 of f32[2,3]"},
      {"pad",
       [=] {
         return pad(x(), x(), {0, 1}, {0, 1});
       },
       "pad: the value of f32[2,3] is f32[2,3], not a scalar of it"},
  };
}

std::vector<PlacementCase> cut_and_join_placements() {
  const auto at = [](AxisPlacement placement) { return placed({DType::kF32, {4, 6}}, placement); };
  return {
      {"concatenate",
       [=] {
         return concat({at(sharded(0)), at(sharded(0))}, 1);
       },
       "data: R, tensor: S(0)"},
      {"concatenate",
       [=] {
         return concat({at(kPartial), at(kReplicated)}, 1);
       },
       "concatenate: a partial sum over mesh axis 1 cannot be used here"},
      {"concatenate",
       [=] {
         return concat({at(sharded(1)), at(sharded(1))}, 1);
       },
       "concatenate: f32[4,6] is placed data: R, tensor: S(1): dim 1 is sharded, and joining the "
       "parts would shuffle its elements"},
      {"slice", [=] { return slice_in_dim(at(sharded(0)), 1, 0, 3); }, "data: R, tensor: S(0)"},
      {"slice", [=] { return slice_in_dim(at(sharded(1)), 1, 0, 3); },
       "slice: f32[4,6] is placed data: R, tensor: S(1): dim 1 is sharded, and each device holds a "
       "different part of it"},
      {"pad", [=] { return pad_in_dim(at(kPartial), 0, 1, 1, 1); }, "data: R, tensor: P"},
      {"pad", [=] { return pad_in_dim(at(kPartial), 2, 1, 1, 1); },
       "pad: a partial sum over mesh axis 1 cannot be used here"},
  };
}

}  // namespace

Family cut_and_join_family() {
  Family family{"CutAndJoin", join_cases(), cut_and_join_errors(), cut_and_join_placements()};
  for (const auto& more : {slice_cases(), pad_cases()}) {
    family.cases.insert(family.cases.end(), more.begin(), more.end());
  }
  return family;
}

}  // namespace hum::graph::op_test
