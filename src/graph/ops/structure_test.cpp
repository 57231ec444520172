// Ops without arithmetic, constants and iota.
#include <cmath>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;

Arrays as_they_are(Ins x) { return {x.begin(), x.end()}; }

Arrays tanh_of_product(Ins x) {
  const Array product = map(x[0], x[1], [](double a, double b) { return a * b; });
  return {map(product, [](double v) { return std::tanh(v); })};
}

// x^2 with its gradient given by hand.
Value hand_square(const Value& x) {
  const auto forward = [](In in) { return Values{in[0] * in[0]}; };
  const auto backward = [](In in, In, In cotangents) { return Values{cotangents[0] * in[0] * 2}; };
  return custom_vjp(Values{x}, forward, backward)[0];
}

std::vector<Case> structure_cases() {
  const auto block = [](In x) {
    const Value weight = x[1];
    return checkpoint(RecomputePolicy::kFull, Values{x[0]},
                      [&](In in) { return Values{tanh(in[0] * weight)}; });
  };
  return {
      {"parameter",
       "parameter",
       {i32({3, 5})},
       [](In x) { return Values{x[0]}; },
       as_they_are,
       Gradient::kNone},
      {"call/checkpoint with a capture", "call", {f32({3, 5}), f32({5})}, block, tanh_of_product},
      {"call/custom_vjp",
       "call",
       {f32({3, 5})},
       [](In x) { return Values{hand_square(x[0])}; },
       [](Ins x) { return Arrays{map(x[0], [](double v) { return v * v; })}; }},
      {"optimization_barrier",
       "optimization_barrier",
       {f32({3, 5}), i32({7})},
       [](In x) { return optimization_barrier(x); },
       as_they_are},
      {"stop_gradient",
       "stop_gradient",
       {f32({3, 5})},
       [](In x) { return Values{stop_gradient(x[0])}; },
       as_they_are,
       Gradient::kNone},
  };
}

Value call_with_too_few() {
  const Value x = parameter("x", {DType::kF32, {2}}), y = parameter("y", {DType::kF32, {2}});
  return call("f", Values{x}, {{x, y}, {x + y}}, {})[0];
}

Array counting(const Dims& dims, size_t along) {
  return make_array(dims, [&](const Dims& i) { return static_cast<double>(i[along]); });
}

Case no_inputs(std::string name, std::string_view op, std::function<Value()> build, Array wanted) {
  return {.name = std::move(name),
          .op = op,
          .inputs = {},
          .build = [build](In) { return Values{build()}; },
          .reference = [wanted](Ins) { return Arrays{wanted}; },
          .gradient = Gradient::kNone};
}

Case constant_of(DType dtype, std::vector<double> elements) {
  const auto size = static_cast<int64_t>(elements.size()) / 2;
  const Dims dims = {2, size};
  return no_inputs(fmt::format("constant/{}", name(dtype)), "constant",
                   [=] {
                     return constant(elements, {dtype, dims});
                   },
                   {dims, elements});
}

std::vector<Case> constant_cases() {
  const auto filled = [](DType dtype, double number) {
    return no_inputs(fmt::format("constant/one {}", name(dtype)), "constant",
                     [=] {
                       return constant(number, {dtype, {3}});
                     },
                     {{3}, {number, number, number}});
  };
  const auto counted = [](DType dtype, int dim) {
    const Dims dims = {3, 5, 7};
    return no_inputs(
        fmt::format("iota/{} dim {}", name(dtype), dim), "iota",
        [=] {
          return iota({dtype, dims}, dim);
        },
        counting(dims, static_cast<size_t>(dim)));
  };
  return {
      constant_of(DType::kF32, {0.5, -1.25, 3e10, -0.0, 7, 1.0 / 0.0}),
      constant_of(DType::kBF16, {0.5, -1.25, 256, 0.0078125}),
      constant_of(DType::kI32, {-2147483648.0, 2147483647, 0, 1, -1, 99}),
      constant_of(DType::kU32, {4294967295.0, 0, 2147483648.0, 1}),
      constant_of(DType::kU8, {255, 0, 128, 3}),
      constant_of(DType::kI1, {1, 0, 0, 1, 1, 0}),
      filled(DType::kF32, -2.5),
      filled(DType::kBF16, 1.5),
      filled(DType::kI32, -7),
      filled(DType::kU32, 4000000000.0),
      filled(DType::kU8, 200),
      filled(DType::kI1, 1),
      counted(DType::kF32, 0),
      counted(DType::kBF16, 1),
      counted(DType::kI32, 2),
      counted(DType::kU32, 1),
      counted(DType::kU8, 2),
  };
}

}  // namespace

Family structure_family() {
  Family family{"Structure", structure_cases(), {}};
  family.shape_errors = {{"call", call_with_too_few, "call: 1 arguments for 2"}};
  family.without_shape_error = {{"parameter", "any shape is right"},
                                {"optimization_barrier", "takes any values"},
                                {"stop_gradient", "takes any value"}};
  return family;
}

Family constant_family() {
  Family family{"Constant", constant_cases(), {}};
  const auto short_list = [] { return constant(std::vector<double>{1, 2}, {DType::kF32, {3}}); };
  family.shape_errors = {
      {"constant", short_list, "constant: 8 bytes for f32[3]"},
      {"iota",
       [] {
         return iota({DType::kI1, {3}}, 0);
       },
       "iota: needs numbers, not i1[3]"},
  };
  return family;
}

}  // namespace hum::graph::op_test
