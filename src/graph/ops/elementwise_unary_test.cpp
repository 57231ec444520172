// One-input elementwise ops and conversions against C's math in double.
#include <bit>
#include <cmath>
#include <limits>

#include "base/bf16.h"
#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using In = std::span<const Value>;
using Unary = Value (*)(const Value&, std::source_location);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Dims kDims = {13, 17};

Case unary(std::string_view op, Unary f, double (*reference)(double), Input input,
           Gradient gradient = Gradient::kChecked) {
  return {
      .name = std::string(op),
      .op = op,
      .inputs = {std::move(input)},
      .build = [f](In x) { return Values{f(x[0], std::source_location::current())}; },
      .reference = [reference](std::span<const Array> x) { return Arrays{map(x[0], reference)}; },
      .gradient = gradient};
}

std::vector<Case> float_cases() {
  const Input whole = f32(kDims), positive = f32(kDims, 0.2, 4);
  const Input halves = {{DType::kF32, {9}}, 0, 0, {-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3.7, -3.2}};
  const Input special = {{DType::kF32, {5}}, 0, 0, {1, kInfinity, -kInfinity, std::nan(""), -0.25}};
  const auto sign_of = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  const auto finite = [](double x) { return std::isfinite(x) ? 1.0 : 0.0; };
  const Gradient none = Gradient::kNone;
  return {
      unary(
          "abs", abs, [](double x) { return std::fabs(x); }, whole),
      unary(
          "exponential", exponential, [](double x) { return std::exp(x); }, whole),
      unary(
          "exponential_minus_one", exponential_minus_one, [](double x) { return std::expm1(x); },
          whole),
      unary(
          "log", log, [](double x) { return std::log(x); }, positive),
      unary(
          "log_plus_one", log_plus_one, [](double x) { return std::log1p(x); },
          f32(kDims, -0.5, 3)),
      unary(
          "sqrt", sqrt, [](double x) { return std::sqrt(x); }, positive),
      unary(
          "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, positive),
      unary(
          "tanh", tanh, [](double x) { return std::tanh(x); }, whole),
      unary(
          "logistic", logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, whole),
      unary(
          "sine", sine, [](double x) { return std::sin(x); }, f32(kDims, -7, 7)),
      unary(
          "cosine", cosine, [](double x) { return std::cos(x); }, f32(kDims, -7, 7)),
      unary(
          "floor", floor, [](double x) { return std::floor(x); }, halves, none),
      unary(
          "ceil", ceil, [](double x) { return std::ceil(x); }, halves, none),
      unary(
          "round_nearest_even", round_nearest_even, [](double x) { return std::nearbyint(x); },
          halves, none),
      unary("sign", sign, sign_of, halves, none),
      unary("is_finite", is_finite, finite, special, none),
  };
}

Case converted(std::string name, Input input, DType to, double (*reference)(double),
               Gradient gradient = Gradient::kNone) {
  return {
      .name = std::move(name),
      .op = "convert",
      .inputs = {std::move(input)},
      .build = [to](In x) { return Values{convert(x[0], to)}; },
      .reference = [reference](std::span<const Array> x) { return Arrays{map(x[0], reference)}; },
      .gradient = gradient};
}

std::vector<Case> convert_cases() {
  const auto same = [](double x) { return x; };
  const auto not_zero = [](double x) { return x != 0 ? 1.0 : 0.0; };
  const auto truncated = [](double x) { return std::trunc(x); };
  Case narrow =
      converted("convert/f32 to bf16 and back", f32(kDims), DType::kBF16, same, Gradient::kChecked);
  narrow.build = [](In x) { return Values{convert(convert(x[0], DType::kBF16), DType::kF32)}; };
  narrow.in_bf16 = false;
  narrow.bounds = {.value = 1.0 / 256, .gradient = 1.0 / 256};
  return {
      narrow,
      converted("convert/f32 to i32", f32(kDims, -100, 100), DType::kI32, truncated),
      converted("convert/i32 to f32", i32(kDims, -100, 100), DType::kF32, same),
      converted("convert/i32 to i1", i32(kDims, -2, 2), DType::kI1, not_zero),
      converted("convert/f32 to i1", {{DType::kF32, {4}}, 0, 0, {0, 1, -0.5, 3}}, DType::kI1,
                not_zero),
      converted("convert/i1 to f32", {{DType::kI1, kDims}}, DType::kF32, same),
      converted("convert/ui8 to ui32", {{DType::kU8, kDims}, 0, 255}, DType::kU32, same),
      converted("convert/ui32 to f32", {{DType::kU32, kDims}, 0, 1e6}, DType::kF32, same),
  };
}

std::vector<Case> integer_cases() {
  const auto build = [](auto f) { return [f](In x) { return Values{f(x[0])}; }; };
  const auto reference = [](double (*f)(double)) {
    return [f](std::span<const Array> x) { return Arrays{map(x[0], f)}; };
  };
  const Gradient none = Gradient::kNone;
  const auto minus = [](double x) { return -x; };
  const auto negative = [](const Value& x) { return -x; };
  const auto inverted = [](const Value& x) { return ~x; };
  const auto to_i32 = [](const Value& x) { return bitcast_convert(x, DType::kI32); };
  const auto to_f32 = [](const Value& x) { return bitcast_convert(x, DType::kF32); };
  const auto bits_of = [](double x) {
    return static_cast<double>(std::bit_cast<int32_t>(static_cast<float>(x)));
  };
  const auto from_bits = [](double x) {
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x)));
  };
  const Input bits = {{DType::kU32, kDims}, 0, 0x7f7fffff};
  return {
      {"negate", "negate", {f32(kDims)}, build(negative), reference(minus)},
      {"negate/i32", "negate", {i32(kDims)}, build(negative), reference(minus), none},
      {"abs/i32",
       "abs",
       {i32(kDims)},
       build([](const Value& x) { return abs(x); }),
       reference([](double x) { return std::fabs(x); }),
       none},
      {"not/i32",
       "not",
       {i32(kDims)},
       build(inverted),
       reference([](double x) { return -x - 1; }),
       none},
      {"not/i1",
       "not",
       {{{DType::kI1, kDims}}},
       build(inverted),
       reference([](double x) { return 1 - x; }),
       none},
      {"bitcast_convert/f32 to i32",
       "bitcast_convert",
       {f32(kDims)},
       build(to_i32),
       reference(bits_of),
       none,
       /*in_bf16=*/false},
      {"bitcast_convert/ui32 to f32",
       "bitcast_convert",
       {bits},
       build(to_f32),
       reference(from_bits),
       Gradient::kUnchecked},
  };
}

Value of(DType dtype) { return parameter("x", {dtype, {2, 3}}); }

std::vector<ShapeErrorCase> unary_errors() {
  const auto i = [] { return of(DType::kI32); };
  const auto b = [] { return of(DType::kI1); };
  const auto f = [] { return of(DType::kF32); };
  return {
      {"negate", [=] { return -b(); }, "negate: needs numbers, not i1[2,3]"},
      {"abs", [=] { return abs(b()); }, "abs: needs numbers, not i1[2,3]"},
      {"sign", [=] { return sign(b()); }, "sign: needs numbers, not i1[2,3]"},
      {"exponential", [=] { return exponential(i()); },
       "exponential: needs f32 or bf16, not i32[2,3]"},
      {"exponential_minus_one", [=] { return exponential_minus_one(i()); },
       "exponential_minus_one: needs f32 or bf16, not i32[2,3]"},
      {"log", [=] { return log(i()); }, "log: needs f32 or bf16, not i32[2,3]"},
      {"log_plus_one", [=] { return log_plus_one(i()); },
       "log_plus_one: needs f32 or bf16, not i32[2,3]"},
      {"sqrt", [=] { return sqrt(i()); }, "sqrt: needs f32 or bf16, not i32[2,3]"},
      {"rsqrt", [=] { return rsqrt(i()); }, "rsqrt: needs f32 or bf16, not i32[2,3]"},
      {"tanh", [=] { return tanh(i()); }, "tanh: needs f32 or bf16, not i32[2,3]"},
      {"logistic", [=] { return logistic(i()); }, "logistic: needs f32 or bf16, not i32[2,3]"},
      {"sine", [=] { return sine(i()); }, "sine: needs f32 or bf16, not i32[2,3]"},
      {"cosine", [=] { return cosine(i()); }, "cosine: needs f32 or bf16, not i32[2,3]"},
      {"floor", [=] { return floor(i()); }, "floor: needs f32 or bf16, not i32[2,3]"},
      {"ceil", [=] { return ceil(i()); }, "ceil: needs f32 or bf16, not i32[2,3]"},
      {"round_nearest_even", [=] { return round_nearest_even(i()); },
       "round_nearest_even: needs f32 or bf16, not i32[2,3]"},
      {"is_finite", [=] { return is_finite(i()); }, "is_finite: needs f32 or bf16, not i32[2,3]"},
      {"not", [=] { return ~f(); }, "not: needs integers or i1, not f32[2,3]"},
      {"bitcast_convert", [=] { return bitcast_convert(f(), DType::kBF16); },
       "bitcast_convert: f32[2,3] to bf16 changes size"},
  };
}

}  // namespace

Family unary_family() {
  Family family{"Unary", float_cases(), unary_errors()};
  for (const auto& more : {convert_cases(), integer_cases()}) {
    family.cases.insert(family.cases.end(), more.begin(), more.end());
  }
  const auto partial = [] { return placed({DType::kF32, {4, 6}}, kPartial); };
  const auto cut = [] { return placed({DType::kF32, {4, 6}}, sharded(1)); };
  family.placements = {
      {"negate", [=] { return -partial(); }, "data: R, tensor: P"},
      {"exponential", [=] { return exponential(cut()); }, "data: R, tensor: S(1)"},
      {"exponential", [=] { return exponential(partial()); },
       "exponential: a partial sum over mesh axis 1 cannot be used here"},
      {"convert", [=] { return convert(partial(), DType::kBF16); }, "data: R, tensor: P"},
      {"convert", [=] { return convert(partial(), DType::kI32); },
       "convert: a partial sum over mesh axis 1 cannot be used here"},
  };
  family.without_shape_error = {{"convert", "any type becomes any other"}};
  return family;
}

}  // namespace hum::graph::op_test
