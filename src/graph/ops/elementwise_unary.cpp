// One-input element-wise ops and conversions. One row per op: rule for its input type, gradient,
// printed name.
#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

Shapes same_float(const Node& node) {
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(is_float(shape.dtype), "{}: needs f32 or bf16, not {}", node.op().name, shape);
  return {shape};
}

Shapes same_number(const Node& node) {
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(shape.dtype != DType::kI1, "{}: needs numbers, not {}", node.op().name, shape);
  return {shape};
}

Shapes same_bits(const Node& node) {
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(!is_float(shape.dtype), "{}: needs integers or i1, not {}", node.op().name, shape);
  return {shape};
}

Shapes booleans(const Node& node) { return {{DType::kI1, same_float(node)[0].dims}}; }

void print_simple(Printer& out, const Node& node) { out.define_simple(node); }

Values negate_vjp(const Node&, Cotangents c) { return {-c[0]}; }
Values abs_vjp(const Node& n, Cotangents c) { return {c[0] * sign(n.input(0))}; }
Values exp_vjp(const Node& n, Cotangents c) { return {c[0] * n.output()}; }
Values expm1_vjp(const Node& n, Cotangents c) { return {c[0] * (n.output() + 1)}; }
Values log_vjp(const Node& n, Cotangents c) { return {c[0] / n.input(0)}; }
Values log1p_vjp(const Node& n, Cotangents c) { return {c[0] / (n.input(0) + 1)}; }
Values sqrt_vjp(const Node& n, Cotangents c) { return {c[0] * 0.5 / n.output()}; }
Values rsqrt_vjp(const Node& n, Cotangents c) { return {c[0] * -0.5 * n.output() / n.input(0)}; }
Values tanh_vjp(const Node& n, Cotangents c) { return {c[0] * (1 - n.output() * n.output())}; }
Values logistic_vjp(const Node& n, Cotangents c) { return {c[0] * n.output() * (1 - n.output())}; }
Values sine_vjp(const Node& n, Cotangents c) { return {c[0] * cosine(n.input(0))}; }
Values cosine_vjp(const Node& n, Cotangents c) { return {c[0] * -sine(n.input(0))}; }

Shapes infer_convert(const Node& node) {
  return {{node.attributes().get<DType>("dtype"), node.input(0).dims()}};
}
Values convert_vjp(const Node& node, Cotangents cotangents) {
  if (!is_float(node.input(0).dtype()) || !is_float(node.output().dtype())) return {Value()};
  return {convert(cotangents[0], node.input(0).dtype())};
}
// A round trip through a type that holds every value of the first.
Value simplify_convert(const Node& node, const Values& in) {
  const Node& inner = in[0].node();
  if (&inner.op() != &kConvertOp) return {};
  const Value& x = inner.input(0);
  const bool exact = x.dtype() == DType::kBF16 && in[0].dtype() == DType::kF32;
  return exact && node.shapes()[0].dtype == x.dtype() ? x : Value();
}
std::vector<Placement> place_convert(const Node& node) {
  const bool linear = is_float(node.input(0).dtype()) && is_float(node.shapes()[0].dtype);
  return linear ? place_linear(node) : place_elementwise(node);
}

Shapes infer_bitcast(const Node& node) {
  const DType to = node.attributes().get<DType>("dtype");
  const Shape& from = node.input(0).shape();
  HUM_REQUIRE(size_bytes(to) == size_bytes(from.dtype), "bitcast_convert: {} to {} changes size",
              from, name(to));
  return {{to, from.dims}};
}

}  // namespace

#define HUM_UNARY(variable, text, infer, place, vjp, memory_class, ...) \
  const OpDef variable = {                                              \
      text,                                                             \
      infer,                                                            \
      place,                                                            \
      vjp,                                                              \
      print_simple,                                                     \
      elementwise_cost,                                                 \
      {.memory = MemoryClass::memory_class, .elementwise = true __VA_OPT__(, ) __VA_ARGS__}};
HUM_UNARY(kNegateOp, "negate", same_number, place_linear, negate_vjp, kCheap, .involution = true)
HUM_UNARY(kAbsOp, "abs", same_number, place_elementwise, abs_vjp, kCheap)
HUM_UNARY(kExponentialOp, "exponential", same_float, place_elementwise, exp_vjp, kExpensive)
HUM_UNARY(kExponentialMinusOneOp, "exponential_minus_one", same_float, place_elementwise, expm1_vjp,
          kExpensive)
HUM_UNARY(kLogOp, "log", same_float, place_elementwise, log_vjp, kExpensive)
HUM_UNARY(kLogPlusOneOp, "log_plus_one", same_float, place_elementwise, log1p_vjp, kExpensive)
HUM_UNARY(kSqrtOp, "sqrt", same_float, place_elementwise, sqrt_vjp, kExpensive)
HUM_UNARY(kRsqrtOp, "rsqrt", same_float, place_elementwise, rsqrt_vjp, kExpensive)
HUM_UNARY(kTanhOp, "tanh", same_float, place_elementwise, tanh_vjp, kExpensive)
HUM_UNARY(kLogisticOp, "logistic", same_float, place_elementwise, logistic_vjp, kExpensive)
HUM_UNARY(kSineOp, "sine", same_float, place_elementwise, sine_vjp, kExpensive)
HUM_UNARY(kCosineOp, "cosine", same_float, place_elementwise, cosine_vjp, kExpensive)
HUM_UNARY(kFloorOp, "floor", same_float, place_elementwise, zero_gradient, kCheap)
HUM_UNARY(kCeilOp, "ceil", same_float, place_elementwise, zero_gradient, kCheap)
HUM_UNARY(kRoundNearestEvenOp, "round_nearest_even", same_float, place_elementwise, zero_gradient,
          kCheap)
HUM_UNARY(kSignOp, "sign", same_number, place_elementwise, zero_gradient, kCheap)
HUM_UNARY(kIsFiniteOp, "is_finite", booleans, place_elementwise, zero_gradient, kCheap)
HUM_UNARY(kNotOp, "not", same_bits, place_elementwise, zero_gradient, kCheap, .involution = true)
HUM_UNARY(kBitcastConvertOp, "bitcast_convert", infer_bitcast, place_elementwise, zero_gradient,
          kCheap)
#undef HUM_UNARY
const OpDef kConvertOp = {"convert",
                          infer_convert,
                          place_convert,
                          convert_vjp,
                          print_simple,
                          elementwise_cost,
                          {.memory = MemoryClass::kCheap,
                           .elementwise = true,
                           .takes_partial_cotangents = true,
                           .simplify = simplify_convert}};

#define HUM_DEFINE_UNARY(function, row)                                   \
  Value function(const Value& x, std::source_location where) {            \
    return NodeBuilder{.op = row, .inputs = {x}, .where = where}.value(); \
  }
HUM_DEFINE_UNARY(abs, kAbsOp)
HUM_DEFINE_UNARY(exponential, kExponentialOp)
HUM_DEFINE_UNARY(exponential_minus_one, kExponentialMinusOneOp)
HUM_DEFINE_UNARY(log, kLogOp)
HUM_DEFINE_UNARY(log_plus_one, kLogPlusOneOp)
HUM_DEFINE_UNARY(sqrt, kSqrtOp)
HUM_DEFINE_UNARY(rsqrt, kRsqrtOp)
HUM_DEFINE_UNARY(tanh, kTanhOp)
HUM_DEFINE_UNARY(logistic, kLogisticOp)
HUM_DEFINE_UNARY(sine, kSineOp)
HUM_DEFINE_UNARY(cosine, kCosineOp)
HUM_DEFINE_UNARY(floor, kFloorOp)
HUM_DEFINE_UNARY(ceil, kCeilOp)
HUM_DEFINE_UNARY(round_nearest_even, kRoundNearestEvenOp)
HUM_DEFINE_UNARY(sign, kSignOp)
HUM_DEFINE_UNARY(is_finite, kIsFiniteOp)
#undef HUM_DEFINE_UNARY

Value operator-(Operand x) {
  return NodeBuilder{.op = kNegateOp, .inputs = {x.value()}, .where = x.where()}.value();
}
Value operator~(Operand x) {
  return NodeBuilder{.op = kNotOp, .inputs = {x.value()}, .where = x.where()}.value();
}

Value convert(const Value& x, DType dtype, std::source_location where) {
  if (x.dtype() == dtype) return x;
  return NodeBuilder{
      .op = kConvertOp, .inputs = {x}, .attributes = {{"dtype", dtype}}, .where = where}
      .value();
}

Value bitcast_convert(const Value& x, DType dtype, std::source_location where) {
  if (x.dtype() == dtype) return x;
  return NodeBuilder{
      .op = kBitcastConvertOp, .inputs = {x}, .attributes = {{"dtype", dtype}}, .where = where}
      .value();
}

}  // namespace hum::graph
