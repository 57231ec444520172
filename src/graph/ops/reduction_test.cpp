// The reduce rows against loops in double.
#include <algorithm>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;
using Numbers = std::vector<double>;

const Dims kDims = {3, 5, 7};

// f of the elements along dims 0 and 2, for each index of dim 1.
Array over_ends(const Array& x, double (*f)(const Numbers&)) {
  return make_array({x.size(1)}, [&](const Dims& index) {
    Numbers numbers;
    for (int64_t i = 0; i < x.size(0); ++i) {
      for (int64_t k = 0; k < x.size(2); ++k) numbers.push_back(x.at({i, index[0], k}));
    }
    return f(numbers);
  });
}

double sum_of(const Numbers& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}
double product_of(const Numbers& x) {
  double product = 1;
  for (const double v : x) product *= v;
  return product;
}
double max_of(const Numbers& x) { return *std::ranges::max_element(x); }
double min_of(const Numbers& x) { return *std::ranges::min_element(x); }
double all_of(const Numbers& x) { return min_of(x); }
double any_of(const Numbers& x) { return max_of(x); }
using Reduction = Value (*)(const Value&, Dims, bool, std::source_location);

Case reduction(std::string_view op, Reduction f, double (*reference)(const Numbers&), Input input,
               Gradient gradient = Gradient::kChecked) {
  return {.name = fmt::format("{}/{}", op, input.shape.dtype),
          .op = op,
          .inputs = {std::move(input)},
          .build =
              [f](In x) {
                return Values{f(x[0], {-1, 0}, false, std::source_location::current())};
              },
          .reference = [reference](Ins x) { return Arrays{over_ends(x[0], reference)}; },
          .gradient = gradient};
}

std::vector<Case> reduce_cases() {
  const Input x = f32(kDims), whole = i32(kDims), near_one = f32(kDims, 0.6, 1.4);
  const Input bytes = {{DType::kU8, kDims}, 0, 12}, unsigned_ = {{DType::kU32, kDims}, 0, 4e9};
  const Input boolean = {{DType::kI1, {3, 5, 1}}};
  const Gradient none = Gradient::kNone;
  return {
      reduction("reduce_sum", reduce_sum, sum_of, x),
      reduction("reduce_sum", reduce_sum, sum_of, whole, none),
      reduction("reduce_max", reduce_max, max_of, x),
      reduction("reduce_max", reduce_max, max_of, whole, none),
      reduction("reduce_max", reduce_max, max_of, unsigned_, none),
      reduction("reduce_max", reduce_max, max_of, bytes, none),
      reduction("reduce_min", reduce_min, min_of, x),
      reduction("reduce_min", reduce_min, min_of, whole, none),
      reduction("reduce_min", reduce_min, min_of, unsigned_, none),
      reduction("reduce_min", reduce_min, min_of, bytes, none),
      reduction("reduce_prod", reduce_prod, product_of, near_one),
      reduction("reduce_prod", reduce_prod, product_of, i32({3, 5, 3}, -3, 3), none),
      reduction("reduce_and", reduce_and, all_of, boolean, none),
      reduction("reduce_or", reduce_or, any_of, boolean, none),
  };
}

// Zeros and ties, where gradients are easily wrong.
std::vector<Case> corner_cases() {
  const Input zeros = {{DType::kF32, {3, 3}}, 0, 0, {2, 0, 3, 0, 5, 0, 1, 2, 3}};
  const Input ties = {{DType::kF32, {2, 3}}, 0, 0, {2, 1, 2, 4, 4, 3}};
  const auto rows = [](double (*f)(const Numbers&)) {
    return [f](Ins x) {
      return Arrays{make_array({x[0].size(0)}, [&](const Dims& i) {
        const auto begin = x[0].data.begin() + i[0] * 3;
        return f({begin, begin + 3});
      })};
    };
  };
  Case drift =
      reduction("reduce_sum", reduce_sum, sum_of, f32({41, 1, 101}, 0, 1), Gradient::kUnchecked);
  drift.name = "reduce_sum/long";
  drift.bounds.bf16_value = 1.0 / 256;
  const auto kept = [](In x) { return Values{x[0] - reduce_sum(x[0], {1}, /*keepdims=*/true)}; };
  const auto kept_reference = [](Ins x) {
    return Arrays{make_array({5, 7}, [&](const Dims& i) {
      const auto row = x[0].data.begin() + i[0] * 7;
      return x[0].at(i) - sum_of({row, row + 7});
    })};
  };
  return {
      drift,
      {"reduce_prod/zeros",
       "reduce_prod",
       {zeros},
       [](In x) { return Values{reduce_prod(x[0], {1})}; },
       rows(product_of)},
      {"reduce_max/ties share",
       "reduce_max",
       {ties},
       [](In x) { return Values{reduce_max(x[0], {1})}; },
       rows(max_of)},
      {"reduce_sum/keepdims", "reduce_sum", {f32({5, 7})}, kept, kept_reference},
  };
}

std::vector<ShapeErrorCase> reduction_errors() {
  const auto of = [](DType dtype) { return parameter("x", {dtype, {2, 3}}); };
  const auto b = [=] { return of(DType::kI1); };
  const auto f = [=] { return of(DType::kF32); };
  return {
      {"reduce_sum", [=] { return reduce_sum(f(), {2}); },
       "reduce_sum: dim 2 is out of range for f32[2,3]"},
      {"reduce_sum",
       [=] {
         return reduce_sum(f(), {1, -1});
       },
       "reduce_sum: a dim appears twice in [1,1]"},
      {"reduce_max", [=] { return reduce_max(b(), {0}); },
       "reduce_max: needs numbers, not i1[2,3]"},
      {"reduce_min", [=] { return reduce_min(b(), {0}); },
       "reduce_min: needs numbers, not i1[2,3]"},
      {"reduce_prod", [=] { return reduce_prod(b(), {0}); },
       "reduce_prod: needs numbers, not i1[2,3]"},
      {"reduce_and", [=] { return reduce_and(f(), {0}); }, "reduce_and: needs i1, not f32[2,3]"},
      {"reduce_or", [=] { return reduce_or(f(), {0}); }, "reduce_or: needs i1, not f32[2,3]"},
  };
}

std::vector<PlacementCase> reduction_placements() {
  const auto at = [](AxisPlacement placement) {
    return placed({DType::kF32, {2, 4, 6}}, placement);
  };
  return {
      {"reduce_sum", [=] { return reduce_sum(at(sharded(1)), {1}); }, "data: R, tensor: P"},
      {"reduce_sum", [=] { return reduce_sum(at(sharded(2)), {0}); }, "data: R, tensor: S(1)"},
      {"reduce_sum", [=] { return reduce_sum(at(kPartial), {0}); }, "data: R, tensor: P"},
      {"reduce_max", [=] { return reduce_max(at(sharded(1)), {1}); }, "data: R, tensor: S"},
      {"reduce_max", [=] { return reduce_max(at(sharded(2)), {1}, true); },
       "data: R, tensor: S(2)"},
      {"reduce_max", [=] { return reduce_max(at(kPartial), {1}); },
       "reduce_max: a partial sum cannot be used here"},
  };
}

}  // namespace

Family reduction_family() {
  Family family{"Reduction", reduce_cases(), reduction_errors(), reduction_placements()};
  for (const Case& test : corner_cases()) family.cases.push_back(test);
  return family;
}

}  // namespace hum::graph::op_test
