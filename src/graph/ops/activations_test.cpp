// Activation functions against C's math in double.
#include <cmath>
#include <numbers>

#include "graph/ops/op_test.h"

namespace hum::graph::op_test {
namespace {

using Activation = Value (*)(const Value&, std::source_location);

Case activation(std::string name, Activation f, double (*reference)(double), Input input) {
  return {
      .name = std::move(name),
      .op = "",
      .inputs = {std::move(input)},
      .build =
          [f](std::span<const Value> x) {
            return Values{f(x[0], std::source_location::current())};
          },
      .reference = [reference](std::span<const Array> x) { return Arrays{map(x[0], reference)}; }};
}

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

std::vector<Case> activation_cases() {
  const Input wide = f32({11, 29}, -6, 6);
  Case fine = activation(
      "erf", erf, [](double x) { return std::erf(x); }, wide);
  fine.bounds.value = 1e-6;
  const auto gelu_exact = [](double x) {
    return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  };
  const auto softplus_exact = [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); };
  return {
      fine,
      activation("gelu", gelu, gelu_exact, wide),
      activation("gelu_new", gelu_new, gelu_tanh, wide),
      activation(
          "silu", silu, [](double x) { return x / (1 + std::exp(-x)); }, wide),
      activation("softplus", softplus, softplus_exact, f32({11, 29}, -20, 20)),
      activation("softplus/large", softplus, softplus_exact, f32({5}, 80, 200)),
      activation(
          "relu", relu, [](double x) { return x > 0 ? x : 0.0; }, wide),
  };
}

}  // namespace

Family activation_family() {
  const auto whole = [] { return parameter("x", {DType::kI32, {2}}); };
  return {"Activation",
          activation_cases(),
          {{"", [=] { return gelu(whole()); }, "gelu: needs f32 or bf16, not i32[2]"}}};
}

}  // namespace hum::graph::op_test
