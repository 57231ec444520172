// Element by element, activations, random numbers.
#include "tests/parity/op_cases.h"

namespace hum::parity {

using graph::DType;

namespace {

OpCase unary(std::string name, Value (*f)(const Value&, std::source_location)) {
  return one(std::move(name), [f](In in) { return f(in[0], std::source_location::current()); });
}

Value to_bf16_and_back(In in) {
  return graph::convert(graph::convert(in[0], DType::kBF16), DType::kF32);
}

}  // namespace

OpCases unary_cases() {
  return {one("negate", [](In in) { return -in[0]; }),
          unary("abs", graph::abs),
          unary("exponential", graph::exponential),
          unary("exponential_minus_one", graph::exponential_minus_one),
          unary("log", graph::log),
          unary("log_plus_one", graph::log_plus_one),
          unary("sqrt", graph::sqrt),
          unary("rsqrt", graph::rsqrt),
          unary("tanh", graph::tanh),
          unary("logistic", graph::logistic),
          unary("sine", graph::sine),
          unary("cosine", graph::cosine),
          unary("floor", graph::floor),
          unary("ceil", graph::ceil),
          unary("round_nearest_even", graph::round_nearest_even),
          unary("sign", graph::sign),
          one("is_finite", [](In in) { return graph::is_finite(1 / in[0]); }),
          one("convert to bf16 and back", to_bf16_and_back),
          one("convert to i32", [](In in) { return graph::convert(in[0], DType::kI32); }),
          one("bitcast_convert", [](In in) { return graph::bitcast_convert(in[0], DType::kU32); }),
          one("not", [](In in) { return ~in[0]; })};
}

OpCases binary_cases() {
  return {one("add", [](In in) { return in[0] + in[1]; }),
          one("subtract", [](In in) { return in[0] - in[1]; }),
          one("multiply", [](In in) { return in[0] * in[1]; }),
          one("divide", [](In in) { return in[0] / in[1]; }),
          one("maximum", [](In in) { return graph::maximum(in[0], in[1]); }),
          one("minimum", [](In in) { return graph::minimum(in[0], in[1]); }),
          one("power", [](In in) { return graph::power(in[0], in[1]); }),
          one("remainder", [](In in) { return graph::remainder(in[0], in[1]); }),
          one("atan2", [](In in) { return graph::atan2(in[0], in[1]); }),
          one("compare and select",
              [](In in) { return graph::select(in[0] < in[1], in[0] * in[1], in[1]); }),
          one("clamp", [](In in) { return graph::clamp(in[0], -0.7, 1.1); }),
          one("and", [](In in) { return in[0] & in[1]; }),
          one("or", [](In in) { return in[0] | in[1]; }),
          one("xor", [](In in) { return in[0] ^ in[1]; }),
          one("shift_left", [](In in) { return graph::shift_left(in[0], in[1]); }),
          one("shift_right_logical", [](In in) { return graph::shift_right_logical(in[0], 5); }),
          one("shift_right_arithmetic",
              [](In in) { return graph::shift_right_arithmetic(in[0], in[1]); }),
          one("broadcast_in_dim", [](In in) {
            return graph::broadcast_in_dim(in[0], {3, 2, 4}, {0, 2});
          })};
}

OpCases activation_cases() {
  return {unary("relu", graph::relu), unary("erf", graph::erf),
          unary("gelu", graph::gelu), unary("gelu_new", graph::gelu_new),
          unary("silu", graph::silu), unary("softplus", graph::softplus)};
}

OpCases random_cases() {
  return {one("random_bits", [](In in) { return graph::random_bits({7}, in[0]); }),
          one("fold_in", [](In in) { return graph::fold_in(in[0], 41); }),
          one("uniform",
              [](In in) {
                return graph::uniform({DType::kF32, {5}}, in[0]);
              }),
          one("normal", [](In in) {
            return graph::normal({DType::kF32, {6}}, in[0]);
          })};
}

}  // namespace hum::parity
