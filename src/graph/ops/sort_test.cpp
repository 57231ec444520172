// Sorting and windows: cases for the op table.
#include "graph/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/ops/op_test.h"
#include "graph/ops/reduce_window.h"

namespace hum::graph::op_test {
namespace {

// Numbers that differ, in bf16 too: where two are equal, differences of the reference say nothing.
Input distinct(Dims dims) {
  Input input = f32(std::move(dims));
  const int64_t count = input.shape.elements();
  for (int64_t i = 0; i < count; ++i) {
    input.values.push_back(static_cast<double>(i * 11 % count - count / 2) / 8);
  }
  return input;
}

// The places of row `row` of a matrix in sorted order, stable.
std::vector<int64_t> order_of(const Array& x, int64_t row, bool descending) {
  std::vector<int64_t> order(static_cast<size_t>(x.size(1)));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const double left = x.at({row, a}), right = x.at({row, b});
    return descending ? left > right : left < right;
  });
  return order;
}

// Element i of each row of `values` taken at the i-th place of the sorted keys.
Array by_order(const Array& keys, const Array& values, bool descending) {
  return make_array(values.dims, [&](const Dims& at) {
    return values.at({at[0], order_of(keys, at[0], descending)[static_cast<size_t>(at[1])]});
  });
}

Array places(const Array& keys, bool descending, int64_t count) {
  return make_array({keys.size(0), count}, [&](const Dims& at) {
    return static_cast<double>(order_of(keys, at[0], descending)[static_cast<size_t>(at[1])]);
  });
}

Array leading(const Array& x, int64_t count) {
  return make_array({x.size(0), count}, [&](const Dims& at) { return x.at(at); });
}

Case sort_case(bool descending) {
  return {.name = descending ? "sort, falling" : "sort, rising",
          .op = "sort",
          .inputs = {distinct({3, 7}), f32({3, 7}), i32({3, 7})},
          .build =
              [=](auto in) {
                return sort({in.begin(), in.end()}, 1, {.descending = descending});
              },
          .reference =
              [=](auto in) {
                return Arrays{by_order(in[0], in[0], descending),
                              by_order(in[0], in[1], descending),
                              by_order(in[0], in[2], descending)};
              }};
}

Case window_case(std::string name, bool sum, Dims x, WindowOptions options) {
  return {.name = std::move(name),
          .op = sum ? "reduce_window_sum" : "reduce_window_max",
          .inputs = {distinct(std::move(x))},
          .build =
              [=](auto in) {
                return Values{sum ? reduce_window_sum(in[0], options)
                                  : reduce_window_max(in[0], options)};
              },
          .reference =
              [=](auto in) {
                const auto at_or = [](const Dims& list, size_t d, int64_t value) {
                  return list.empty() ? value : list[d];
                };
                const auto stride = [&](size_t d) { return at_or(options.strides, d, 1); };
                Dims dims;
                for (size_t d = 0; d < 2; ++d) {
                  const int64_t padded = in[0].dims[d] + at_or(options.padding_low, d, 0) +
                                         at_or(options.padding_high, d, 0);
                  dims.push_back((padded - options.size[d]) / stride(d) + 1);
                }
                return Arrays{make_array(dims, [&](const Dims& at) {
                  double result = sum ? 0 : -INFINITY;
                  for (int64_t i = 0; i < options.size[0]; ++i) {
                    for (int64_t j = 0; j < options.size[1]; ++j) {
                      const Dims from = {at[0] * stride(0) + i - at_or(options.padding_low, 0, 0),
                                         at[1] * stride(1) + j - at_or(options.padding_low, 1, 0)};
                      const bool inside = from[0] >= 0 && from[1] >= 0 && from[0] < in[0].dims[0] &&
                                          from[1] < in[0].dims[1];
                      if (!inside) continue;
                      result = sum ? result + in[0].at(from) : std::max(result, in[0].at(from));
                    }
                  }
                  return result;
                })};
              }};
}

Value matrix(DType dtype = DType::kF32) { return parameter("x", {dtype, {3, 7}}); }

}  // namespace

Family sort_family() {
  const WindowOptions padded{{2, 3}, {1, 2}, {0, 1}, {1, 1}};
  return {
      .name = "Sort",
      .cases =
          {sort_case(false),
           sort_case(true),
           {.name = "sort of equal keys",
            .op = "sort",
            .inputs = {i32({2, 9}, 0, 2), f32({2, 9})},
            .build =
                [](auto in) {
                  return sort({in[0], in[1]}, -1);
                },
            .reference =
                [](auto in) {
                  return Arrays{by_order(in[0], in[0], false), by_order(in[0], in[1], false)};
                }},
           {.name = "argsort",
            .op = "sort",
            .inputs = {distinct({3, 7})},
            .build = [](auto in) { return Values{argsort(in[0], 1)}; },
            .reference = [](auto in) { return Arrays{places(in[0], false, 7)}; },
            .gradient = Gradient::kUnchecked},
           {.name = "top_k",
            .op = "sort",
            .inputs = {distinct({3, 7})},
            .build =
                [](auto in) {
                  const auto [values, indices] = top_k(in[0], 3);
                  return Values{values, indices};
                },
            .reference =
                [](auto in) {
                  return Arrays{leading(by_order(in[0], in[0], true), 3), places(in[0], true, 3)};
                }},
           window_case("sums of windows", true, {4, 7}, {.size = {2, 3}}),
           window_case("sums of padded, strided windows", true, {4, 8}, padded),
           window_case("maxima of windows", false, {4, 7}, {.size = {2, 3}}),
           window_case("maxima of blocks", false, {4, 8}, {.size = {2, 2}, .strides = {2, 2}}),
           window_case("maxima of padded, strided windows", false, {4, 8}, padded)},
      .shape_errors =
          {{"sort",
            [] {
              return sort({matrix(), parameter("y", {DType::kF32, {7, 3}})}, 1)[0];
            },
            "sort: f32[7,3] beside f32[3,7]"},
           {"", [] { return top_k(matrix(), 8).values; }, "top_k: f32[3,7] has no 8 largest"},
           {"reduce_window_sum",
            [] {
              return reduce_window_sum(matrix(), {.size = {4, 1}});
            },
            "reduce_window_sum: dim 0 of f32[3,7] is 3 long with padding, the window is 4"},
           {"reduce_window_max",
            [] {
              return reduce_window_max(matrix(DType::kI32), {.size = {1, 1}});
            },
            "reduce_window_max: needs f32 or bf16, not i32[3,7]"}},
      .placements =
          {{"sort",
            [] {
              return sort({placed({DType::kF32, {3, 7}}, sharded(0))}, 1)[0];
            },
            "data: R, tensor: S(0)"},
           {"sort",
            [] {
              return sort({placed({DType::kF32, {3, 7}}, sharded(1))}, 1)[0];
            },
            "sort: f32[3,7] is placed data: R, tensor: S(1): dim 1 is sharded, and sorting needs "
            "all of it"},
           {"reduce_window_sum",
            [] {
              return reduce_window_sum(placed({DType::kF32, {3, 7}}, kPartial), {.size = {1, 2}});
            },
            "data: R, tensor: P"},
           {"reduce_window_max",
            [] {
              return reduce_window_max(placed({DType::kF32, {3, 7}}, sharded(0)), {.size = {1, 2}});
            },
            "data: R, tensor: S(0)"}},
  };
}

}  // namespace hum::graph::op_test
