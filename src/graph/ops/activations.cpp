#include "graph/ops/activations.h"

#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"

namespace hum::graph {
namespace {

Value wide_float(std::string_view op, const Value& x, std::source_location where) {
  const ErrorContext context = building(op, {x}, where);
  HUM_REQUIRE(is_float(x.dtype()), "{}: needs f32 or bf16, not {}", op, x.shape());
  return convert(x, DType::kF32, where);
}

// Coefficients from the highest power down.
template <size_t kCount>
Value polynomial(const Value& x, const std::array<double, kCount>& coefficients) {
  Value sum = x * coefficients[0] + coefficients[1];
  for (size_t i = 2; i < kCount; ++i) sum = sum * x + coefficients[i];
  return sum;
}

Value erf_wide(const Value& x) {
  static constexpr std::array kNumerator = {
      -2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06, -5.69250639462346e-05,
      -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02};
  static constexpr std::array kDenominator = {-1.45660718464996e-05, -2.13374055278905e-04,
                                              -1.68282697438203e-03, -7.37332916720468e-03,
                                              -1.42647390514189e-02};
  const Value inside = clamp(x, -4.0, 4.0);
  const Value square = inside * inside;
  return inside * polynomial(square, kNumerator) / polynomial(square, kDenominator);
}

}  // namespace

Value relu(const Value& x, std::source_location where) {
  return select(x > 0, Operand(x, where), 0, where);
}

Value erf(const Value& x, std::source_location where) {
  const Value wide = wide_float("erf", x, where);
  const auto forward = [](std::span<const Value> in) { return Values{erf_wide(in[0])}; };
  const auto backward = [](std::span<const Value> in, std::span<const Value>,
                           std::span<const Value> cotangents) {
    return Values{cotangents[0] * (2 * std::numbers::inv_sqrtpi) * exponential(-(in[0] * in[0]))};
  };
  return convert(custom_vjp(Values{wide}, forward, backward, where)[0], x.dtype(), where);
}

Value gelu(const Value& x, std::source_location where) {
  const Value wide = wide_float("gelu", x, where);
  const Value phi = erf(wide * (1 / std::numbers::sqrt2), where) * 0.5 + 0.5;
  return convert(wide * phi, x.dtype(), where);
}

Value gelu_new(const Value& x, std::source_location where) {
  static const double kScale = std::sqrt(2 / std::numbers::pi);
  const Value wide = wide_float("gelu_new", x, where);
  const Value inner = wide * (wide * wide * 0.044715 + 1) * kScale;
  return convert(wide * (tanh(inner, where) * 0.5 + 0.5), x.dtype(), where);
}

Value silu(const Value& x, std::source_location where) {
  const Value wide = wide_float("silu", x, where);
  return convert(wide * logistic(wide, where), x.dtype(), where);
}

Value softplus(const Value& x, std::source_location where) {
  const Value wide = wide_float("softplus", x, where);
  const Value tail = log_plus_one(exponential(-abs(wide, where), where), where);
  return convert(maximum(wide, 0) + tail, x.dtype(), where);
}

}  // namespace hum::graph
