// Two-input elementwise ops, comparisons and select against C's arithmetic.
#include <algorithm>
#include <cmath>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Ins = std::span<const Array>;
using Function = double (*)(double, double);
using Build = Value (*)(Operand, Operand);

const Dims kDims = {13, 17};

Case binary(std::string name, std::string_view op, Build f, Function reference, Input a, Input b,
            Gradient gradient = Gradient::kChecked) {
  return {.name = std::move(name),
          .op = op,
          .inputs = {std::move(a), std::move(b)},
          .build = [f](In x) { return Values{f(x[0], x[1])}; },
          .reference = [reference](Ins x) { return Arrays{map(x[0], x[1], reference)}; },
          .gradient = gradient};
}

const Build kAdd = operator+, kSubtract = operator-, kMultiply = operator*, kDivide = operator/;

std::vector<Case> float_cases() {
  const Input x = f32(kDims), row = f32({17}), column = f32({13, 1});
  const Input deep = f32({3, 1, 7}), flat = f32({5, 1}), away = f32(kDims, 0.5, 3);
  const auto add = [](double a, double b) { return a + b; };
  const auto multiply = [](double a, double b) { return a * b; };
  return {
      binary("add", "add", kAdd, add, x, x),
      binary("add/row", "add", kAdd, add, x, row),
      binary("add/both broadcast", "add", kAdd, add, deep, flat),
      binary(
          "subtract/column", "subtract", kSubtract, [](double a, double b) { return a - b; }, x,
          column),
      binary("multiply", "multiply", kMultiply, multiply, x, x),
      binary("multiply/both broadcast", "multiply", kMultiply, multiply, deep, flat),
      binary("multiply/scalar", "multiply", kMultiply, multiply, f32({}), x),
      binary(
          "divide", "divide", kDivide, [](double a, double b) { return a / b; }, row, away),
      binary(
          "maximum", "maximum", maximum, [](double a, double b) { return std::max(a, b); }, x, row),
      binary(
          "minimum", "minimum", minimum, [](double a, double b) { return std::min(a, b); }, x,
          column),
      binary(
          "power", "power", power, [](double a, double b) { return std::pow(a, b); },
          f32(kDims, 0.3, 2), x),
      binary(
          "remainder", "remainder", remainder, [](double a, double b) { return std::fmod(a, b); },
          f32(kDims, -5, 5), f32(kDims, 0.7, 2)),
      binary(
          "atan2", "atan2", atan2, [](double y, double a) { return std::atan2(y, a); }, x,
          f32(kDims, 0.5, 2)),
  };
}

Case numbers_on_both_sides() {
  return {.name = "arithmetic with plain numbers",
          .op = "",
          .inputs = {f32(kDims, 0.5, 2)},
          .build = [](In x) { return Values{(1 - x[0]) * 2 / (3.5 + x[0]) - 1 / x[0]}; },
          .reference =
              [](Ins x) {
                return Arrays{map(x[0], [](double v) { return (1 - v) * 2 / (3.5 + v) - 1 / v; })};
              }};
}

// Ties share the cotangent, which one-sided values of the reference cannot show but the central
// difference does.
Case tie() {
  const Input fixed = {{DType::kF32, {3}}, 0, 0, {1, 2, 3}};
  return binary(
      "maximum/tie", "maximum", maximum, [](double a, double b) { return std::max(a, b); }, fixed,
      fixed);
}

double as_u32(double x, double y, uint32_t (*f)(uint32_t, uint32_t)) {
  return f(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
}
double as_i32(double x, double y, int32_t (*f)(int32_t, int32_t)) {
  return f(static_cast<int32_t>(x), static_cast<int32_t>(y));
}

std::vector<Case> integer_cases() {
  const Input i = i32(kDims, -1e9, 1e9), u = {{DType::kU32, kDims}, 0, 4294967295.0};
  const Input bits = {{DType::kU32, kDims}, 0, 31}, small = i32({17}, 1, 9);
  const Input boolean = {{DType::kI1, kDims}}, bytes = {{DType::kU8, kDims}, 0, 255};
  const Build and_ = operator&, or_ = operator|, xor_ = operator^;
  const Gradient none = Gradient::kNone;
  const auto divide = [](double a, double b) {
    return as_i32(a, b, [](int32_t x, int32_t y) { return x / y; });
  };
  const auto remain = [](double a, double b) {
    return as_i32(a, b, [](int32_t x, int32_t y) { return x % y; });
  };
  const auto and_bits = [](double a, double b) {
    return as_u32(a, b, [](uint32_t x, uint32_t y) { return x & y; });
  };
  const auto or_bits = [](double a, double b) {
    return as_i32(a, b, [](int32_t x, int32_t y) { return x | y; });
  };
  const auto xor_bits = [](double a, double b) {
    return as_u32(a, b, [](uint32_t x, uint32_t y) { return x ^ y; });
  };
  const auto left = [](double a, double b) {
    return as_u32(a, b, [](uint32_t x, uint32_t y) { return x << y; });
  };
  const auto right = [](double a, double b) {
    return as_u32(a, b, [](uint32_t x, uint32_t y) { return x >> y; });
  };
  const auto right_signed = [](double a, double b) {
    return as_i32(a, b, [](int32_t x, int32_t y) { return x >> y; });
  };
  return {
      binary(
          "add/ui8 wraps", "add", kAdd, [](double a, double b) { return std::fmod(a + b, 256); },
          bytes, bytes, none),
      binary("divide/i32 towards zero", "divide", kDivide, divide, i, small, none),
      binary("remainder/i32", "remainder", remainder, remain, i, small, none),
      binary("and/ui32", "and", and_, and_bits, u, u, none),
      binary("or/i32", "or", or_, or_bits, i, i, none),
      binary("xor/ui32", "xor", xor_, xor_bits, u, u, none),
      binary("and/i1", "and", and_, and_bits, boolean, boolean, none),
      binary("shift_left", "shift_left", shift_left, left, u, bits, none),
      binary("shift_right_logical", "shift_right_logical", shift_right_logical, right, u, bits,
             none),
      binary("shift_right_arithmetic", "shift_right_arithmetic", shift_right_arithmetic,
             right_signed, i, i32(kDims, 0, 31), none),
  };
}

std::vector<Case> compare_cases() {
  struct Direction {
    const char* name;
    Build build;
    Function reference;
  };
  const std::vector<Direction> directions = {
      {"LT", operator<, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"LE", operator<=, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"GT", operator>, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"GE", operator>=, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"EQ", equal, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"NE", not_equal, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
  };
  const Input u = {{DType::kU32, kDims}, 0, 4294967295.0};
  const Input mixed = {{DType::kU32, kDims}, 2147483640, 2147483656};  // around the sign bit
  std::vector<Case> cases;
  for (const Direction& direction : directions) {
    const std::string name = std::string("compare/") + direction.name;
    const auto add = [&](const char* type, const Input& a, const Input& b) {
      cases.push_back(binary(name + type, "compare", direction.build, direction.reference, a, b,
                             Gradient::kNone));
    };
    add(" f32", f32(kDims), f32({17}));
    add(" i32", i32(kDims, -3, 3), i32(kDims, -3, 3));
    add(" ui32", mixed, mixed);
    add(" i1", {{DType::kI1, kDims}}, {{DType::kI1, kDims}});
  }
  return cases;
}

std::vector<Case> select_cases() {
  const auto chosen = [](Ins x) {
    const Array picked = map(x[0], x[1], [](double c, double a) { return c != 0 ? a : 0; });
    const Array other = map(x[0], x[2], [](double c, double b) { return c != 0 ? 0 : b; });
    return Arrays{map(picked, other, [](double a, double b) { return a + b; })};
  };
  const auto build = [](In x) { return Values{select(x[0], x[1], x[2])}; };
  const Input condition = {{DType::kI1, kDims}};
  return {
      {"select", "select", {condition, f32(kDims), f32(kDims)}, build, chosen},
      {"select/broadcast", "select", {condition, f32({17}), f32({13, 1})}, build, chosen},
      {"clamp",
       "maximum",
       {f32(kDims, -3, 3)},
       [](In x) { return Values{clamp(x[0], -1, 1.5)}; },
       [](Ins x) { return Arrays{map(x[0], [](double v) { return std::clamp(v, -1.0, 1.5); })}; }},
  };
}

Value of(DType dtype, Dims dims = {2, 3}) { return parameter("x", {dtype, std::move(dims)}); }

std::vector<ShapeErrorCase> binary_errors() {
  const auto b = [] { return of(DType::kI1); };
  const auto i = [] { return of(DType::kI32); };
  const auto f = [] { return of(DType::kF32); };
  const auto wide = [] { return of(DType::kF32, {2, 4}); };
  return {
      {"add", [=] { return f() + wide(); },
       "add: f32[2,3] and f32[2,4] do not broadcast: sizes 3 and 4"},
      {"add", [=] { return f() + i(); }, "add: f32[2,3] against i32[2,3]"},
      {"subtract", [=] { return b() - b(); }, "subtract: needs numbers, not i1[2,3]"},
      {"multiply", [=] { return b() * b(); }, "multiply: needs numbers, not i1[2,3]"},
      {"divide", [=] { return b() / b(); }, "divide: needs numbers, not i1[2,3]"},
      {"maximum", [=] { return maximum(1, 2); }, "maximum: both sides are plain numbers or empty"},
      {"minimum", [=] { return minimum(b(), b()); }, "minimum: needs numbers, not i1[2,3]"},
      {"power", [=] { return power(i(), i()); }, "power: needs f32 or bf16, not i32[2,3]"},
      {"remainder", [=] { return remainder(b(), b()); }, "remainder: needs numbers, not i1[2,3]"},
      {"atan2", [=] { return atan2(i(), i()); }, "atan2: needs f32 or bf16, not i32[2,3]"},
      {"and", [=] { return f() & f(); }, "and: needs integers or i1, not f32[2,3]"},
      {"or", [=] { return f() | f(); }, "or: needs integers or i1, not f32[2,3]"},
      {"xor", [=] { return f() ^ f(); }, "xor: needs integers or i1, not f32[2,3]"},
      {"shift_left", [=] { return shift_left(f(), f()); },
       "shift_left: needs integers or i1, not f32[2,3]"},
      {"shift_right_logical", [=] { return shift_right_logical(f(), f()); },
       "shift_right_logical: needs integers or i1, not f32[2,3]"},
      {"shift_right_arithmetic", [=] { return shift_right_arithmetic(f(), f()); },
       "shift_right_arithmetic: needs integers or i1, not f32[2,3]"},
      {"compare", [=] { return f() < i(); }, "compare: f32[2,3] against i32[2,3]"},
      {"select", [=] { return select(f(), f(), f()); },
       "select: the condition is f32[2,3], not i1"},
  };
}

std::vector<PlacementCase> binary_placements() {
  const auto at = [](AxisPlacement placement) { return placed({DType::kF32, {4, 6}}, placement); };
  const auto mask = [](AxisPlacement placement) { return placed({DType::kI1, {4, 6}}, placement); };
  return {
      {"add", [=] { return at(kPartial) + at(kPartial); }, "data: R, tensor: P"},
      {"add", [=] { return at(kPartial) + at(kReplicated); },
       "add: a partial sum over mesh axis 1 cannot be used here"},
      {"add", [=] { return at(sharded(0)) + at(kReplicated); }, "data: R, tensor: S(0)"},
      {"add", [=] { return at(sharded(0)) + at(sharded(1)); },
       "add: inputs are placed S(0) and S(1) on mesh axis 1"},
      {"multiply", [=] { return at(kPartial) * at(kReplicated); }, "data: R, tensor: P"},
      {"multiply", [=] { return at(kPartial) * at(kPartial); },
       "multiply: a partial sum over mesh axis 1 cannot be used here"},
      {"select", [=] { return select(mask(kReplicated), at(kPartial), 0); }, "data: R, tensor: P"},
      {"select", [=] { return select(mask(kReplicated), at(kPartial), at(kPartial)); },
       "data: R, tensor: P"},
      {"select", [=] { return select(mask(kReplicated), at(kPartial), 1); },
       "select: a partial sum over mesh axis 1 cannot be used here"},
      {"select", [=] { return select(mask(sharded(0)), at(kPartial), 0); },
       "select: inputs are placed S(0) and P on mesh axis 1"},
      {"maximum", [=] { return maximum(at(kPartial), 0); },
       "maximum: a partial sum over mesh axis 1 cannot be used here"},
  };
}

}  // namespace

Family binary_family() {
  Family family{"Binary", float_cases(), binary_errors(), binary_placements()};
  for (const auto& more : {integer_cases(), compare_cases(), select_cases(),
                           std::vector<Case>{numbers_on_both_sides(), tie()}}) {
    family.cases.insert(family.cases.end(), more.begin(), more.end());
  }
  return family;
}

}  // namespace hum::graph::op_test
