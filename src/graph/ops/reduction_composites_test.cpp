// Means, softmax and relatives, argmax and cumulative sums against loops in double.
#include <algorithm>
#include <cmath>
#include <limits>

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

// f of each row of the last dim, to a row of the same length.
Array by_rows(const Array& x, Numbers (*f)(const Numbers&)) {
  Array result{x.dims, {}};
  const auto length = static_cast<std::ptrdiff_t>(x.dims.back());
  for (auto row = x.data.begin(); row != x.data.end(); row += length) {
    for (const double element : f({row, row + length})) result.data.push_back(element);
  }
  return result;
}

double sum_of(const Numbers& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}
double max_of(const Numbers& x) { return *std::ranges::max_element(x); }
double mean_of(const Numbers& x) { return sum_of(x) / static_cast<double>(x.size()); }
double variance_of(const Numbers& x) {
  Numbers squares;
  for (const double v : x) squares.push_back((v - mean_of(x)) * (v - mean_of(x)));
  return mean_of(squares);
}
double logsumexp_of(const Numbers& x) {
  double sum = 0;
  for (const double v : x) sum += std::exp(v - max_of(x));
  return std::log(sum) + max_of(x);
}
Numbers log_softmax_of(const Numbers& x) {
  Numbers result;
  for (const double v : x) result.push_back(v - logsumexp_of(x));
  return result;
}
Numbers softmax_of(const Numbers& x) {
  Numbers result;
  for (const double v : x) result.push_back(std::exp(v - logsumexp_of(x)));
  return result;
}
Numbers running_sum(const Numbers& x) {
  Numbers result;
  double sum = 0;
  for (const double v : x) result.push_back(sum += v);
  return result;
}

using Reduction = Value (*)(const Value&, Dims, bool, std::source_location);

Case reduction(std::string name, Reduction f, double (*reference)(const Numbers&), Input input) {
  return {.name = std::move(name),
          .op = "",
          .inputs = {std::move(input)},
          .build =
              [f](In x) {
                return Values{f(x[0], {-1, 0}, false, std::source_location::current())};
              },
          .reference = [reference](Ins x) { return Arrays{over_ends(x[0], reference)}; }};
}

std::vector<Case> reduction_cases() {
  return {
      reduction("mean", mean, mean_of, f32(kDims)),
      reduction("variance", variance, variance_of, f32(kDims)),
      reduction("logsumexp", logsumexp, logsumexp_of, f32(kDims, -30, 30)),
  };
}

Case row_case(std::string name, std::function<Value(const Value&)> build,
              Numbers (*reference)(const Numbers&), Input input) {
  return {.name = std::move(name),
          .op = "",
          .inputs = {std::move(input)},
          .build = [build](In x) { return Values{build(x[0])}; },
          .reference = [reference](Ins x) { return Arrays{by_rows(x[0], reference)}; }};
}

// -inf masks, as attention and sampling use them: whole rows of it, and beside numbers.
Case masked_case() {
  const double low = -std::numeric_limits<double>::infinity();
  const Input x = {{DType::kF32, {2, 3}}, 0, 0, {low, 1, low, low, low, low}};
  return {"logsumexp and softmax/masked",
          "",
          {x},
          [](In in) {
            return Values{logsumexp(in[0], {1}), slice_in_dim(softmax(in[0], 1), 0, 0, 1)};
          },
          [=](Ins) {
            return Arrays{{{2}, {1, low}}, {{1, 3}, {0, 1, 0}}};
          },
          Gradient::kUnchecked};
}

std::vector<Case> row_cases() {
  const auto softmax_last = [](const Value& x) { return softmax(x, -1); };
  const auto log_softmax_last = [](const Value& x) { return log_softmax(x, -1); };
  const auto columns = [](const Value& x) { return cumulative_sum(x, 0); };
  const auto sums = [](const Value& x) { return cumulative_sum(x, -1); };
  Case whole = row_case("cumulative_sum/i32", sums, running_sum, i32({3, 11}));
  return {
      row_case("softmax", softmax_last, softmax_of, f32({5, 7}, -20, 20)),
      row_case("softmax/large", softmax_last, softmax_of, f32({3, 5}, 500, 510)),
      row_case("log_softmax", log_softmax_last, log_softmax_of, f32({5, 7}, -20, 20)),
      row_case("cumulative_sum", sums, running_sum, f32({3, 13})),
      row_case("cumulative_sum/in blocks", sums, running_sum, f32({2, 131})),
      whole,
      {"cumulative_sum/first dim",
       "",
       {f32({7, 1})},
       [columns](In x) { return Values{columns(x[0])}; },
       [](Ins x) {
         return Arrays{{x[0].dims, running_sum(x[0].data)}};
       }},
  };
}

Case index_case(std::string name, std::function<Value(const Value&)> build, bool largest,
                Input input) {
  const auto reference = [largest](Ins x) {
    return Arrays{make_array({x[0].size(0), x[0].size(2)}, [&](const Dims& i) {
      int64_t best = 0;
      for (int64_t j = 1; j < x[0].size(1); ++j) {
        const double now = x[0].at({i[0], j, i[1]}), before = x[0].at({i[0], best, i[1]});
        if (largest ? now > before : now < before) best = j;
      }
      return static_cast<double>(best);
    })};
  };
  return {.name = std::move(name),
          .op = "",
          .inputs = {std::move(input)},
          .build = [build](In x) { return Values{build(x[0])}; },
          .reference = reference,
          .gradient = Gradient::kNone};
}

std::vector<Case> index_cases() {
  const auto first_max = [](const Value& x) { return argmax(x, 1); };
  const auto first_min = [](const Value& x) { return argmin(x, 1); };
  return {
      index_case("argmax", first_max, true, f32(kDims)),
      index_case("argmax/ties", first_max, true, i32(kDims, 0, 2)),
      index_case("argmin", first_min, false, f32(kDims)),
  };
}

// `of_row`: from a row of logits and its label.
Case labels_case(std::string name, std::function<Value(const Value&, const Value&)> op,
                 std::function<double(const Numbers&, size_t)> of_row) {
  const auto reference = [of_row](Ins x) {
    return Arrays{make_array({3, 5}, [&](const Dims& i) {
      Numbers row;
      for (int64_t k = 0; k < 7; ++k) row.push_back(x[0].at({i[0], i[1], k}));
      return of_row(row, static_cast<size_t>(x[1].at(i)));
    })};
  };
  return {std::move(name),
          "",
          {f32(kDims, -5, 5), i32({3, 5}, 0, 6)},
          [op](In x) { return Values{op(x[0], x[1])}; },
          reference};
}

std::vector<Case> labels_cases() {
  return {labels_case(
              "label_logits", [](auto& x, auto& labels) { return label_logits(x, labels); },
              [](const Numbers& row, size_t label) { return row[label]; }),
          labels_case(
              "softmax_cross_entropy",
              [](auto& x, auto& labels) { return softmax_cross_entropy(x, labels); },
              [](const Numbers& row, size_t label) { return logsumexp_of(row) - row[label]; })};
}

std::vector<ShapeErrorCase> composite_errors() {
  const auto of = [](DType dtype) { return parameter("x", {dtype, {2, 3}}); };
  const auto b = [=] { return of(DType::kI1); };
  const auto f = [=] { return of(DType::kF32); };
  const auto i = [=] { return of(DType::kI32); };
  return {
      {"", [=] { return mean(i(), {0}); }, "mean: needs f32 or bf16, not i32[2,3]"},
      {"", [=] { return softmax(f(), 2); }, "softmax: dim 2 is out of range for f32[2,3]"},
      {"", [=] { return cumulative_sum(b(), 0); }, "cumulative_sum: needs numbers, not i1[2,3]"},
      {"", [=] { return softmax_cross_entropy(f(), i()); },
       "softmax_cross_entropy: labels i32[2,3] do not fit logits f32[2,3]"},
  };
}

}  // namespace

Family reduction_composites_family() {
  const auto cut = [] { return placed({DType::kF32, {2, 4, 6}}, sharded(1)); };
  Family family{"ReductionComposites", reduction_cases(), composite_errors()};
  family.placements = {{"", [=] { return softmax(cut(), -1); }, "data: R, tensor: S(1)"}};
  for (const auto& more :
       {row_cases(), index_cases(), labels_cases(), std::vector<Case>{masked_case()}}) {
    family.cases.insert(family.cases.end(), more.begin(), more.end());
  }
  return family;
}

}  // namespace hum::graph::op_test
