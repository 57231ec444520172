// Two-input elementwise ops, compare and select, and numpy broadcasting.
#include <algorithm>

#include "base/error.h"
#include "graph/ops/elementwise_impl.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

void require_equal_shapes(const Node& node) {
  HUM_REQUIRE(node.input(0).shape() == node.input(1).shape(), "{}: {} against {}", node.op().name,
              node.input(0).shape(), node.input(1).shape());
}

Shapes same_number(const Node& node) {
  require_equal_shapes(node);
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(shape.dtype != DType::kI1, "{}: needs numbers, not {}", node.op().name, shape);
  return {shape};
}

Shapes same_float(const Node& node) {
  require_equal_shapes(node);
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(is_float(shape.dtype), "{}: needs f32 or bf16, not {}", node.op().name, shape);
  return {shape};
}

Shapes same_bits(const Node& node) {
  require_equal_shapes(node);
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(!is_float(shape.dtype), "{}: needs integers or i1, not {}", node.op().name, shape);
  return {shape};
}

Shapes infer_compare(const Node& node) {
  require_equal_shapes(node);
  return {{DType::kI1, node.input(0).dims()}};
}

Shapes infer_select(const Node& node) {
  const Shape& condition = node.input(0).shape();
  HUM_REQUIRE(condition.dtype == DType::kI1, "select: the condition is {}, not i1", condition);
  HUM_REQUIRE(
      node.input(1).shape() == node.input(2).shape() && node.input(1).dims() == condition.dims,
      "select: {} ? {} : {}", condition, node.input(1).shape(), node.input(2).shape());
  return {node.input(1).shape()};
}

void print_simple(Printer& out, const Node& node) { out.define_simple(node); }

void print_compare(Printer& out, const Node& node) {
  const DType dtype = node.input(0).dtype();
  const auto* type = is_float(dtype)                             ? "FLOAT"
                     : is_unsigned(dtype) || dtype == DType::kI1 ? "UNSIGNED"
                                                                 : "SIGNED";
  out.define_simple(node, fmt::format("comparison_direction = #stablehlo<comparison_direction {}>, "
                                      "compare_type = #stablehlo<comparison_type {}>",
                                      node.attributes().get<std::string>("direction"), type));
}

Values add_vjp(const Node&, Cotangents c) { return {c[0], c[0]}; }
Values subtract_vjp(const Node&, Cotangents c) { return {c[0], -c[0]}; }
Values multiply_vjp(const Node& n, Cotangents c) { return {c[0] * n.input(1), c[0] * n.input(0)}; }
Values divide_vjp(const Node& n, Cotangents c) {
  return {c[0] / n.input(1), -(c[0] * n.output() / n.input(1))};
}
// For equal elements each side gets half the cotangent, as in JAX.
Values choice_vjp(const Node& n, Cotangents c, const Value& first) {
  const Value tie = equal(n.input(0), n.input(1));
  return {select(tie, c[0] * 0.5, select(first, c[0], 0)),
          select(tie, c[0] * 0.5, select(first, zeros_like(c[0]), c[0]))};
}
Values maximum_vjp(const Node& n, Cotangents c) {
  return choice_vjp(n, c, n.input(0) > n.input(1));
}
Values minimum_vjp(const Node& n, Cotangents c) {
  return choice_vjp(n, c, n.input(0) < n.input(1));
}
Values power_vjp(const Node& n, Cotangents c) {
  const Value &base = n.input(0), &exponent = n.input(1);
  const Value safe = select(base > 0, base, ones_like(base));
  return {c[0] * exponent * power(base, exponent - 1),
          c[0] * select(base > 0, n.output() * log(safe), 0)};
}
Values atan2_vjp(const Node& n, Cotangents c) {
  const Value &y = n.input(0), &x = n.input(1);
  const Value scaled = c[0] / (x * x + y * y);
  return {scaled * x, -(scaled * y)};
}
Values remainder_vjp(const Node& n, Cotangents c) {
  // (a - remainder) / b is an integer up to rounding error, so rounding it is exact; floor(a / b)
  // is not.
  const Value whole = round_nearest_even((n.input(0) - n.output()) / n.input(1));
  return {c[0], -(c[0] * whole)};
}
Values select_vjp(const Node& n, Cotangents c) {
  return {Value(), select(n.input(0), c[0], 0), select(n.input(0), zeros_like(c[0]), c[0])};
}
Value simplify_select(const Node&, const Values& in) {
  if (in[1] == in[2] || is_all(in[0], 1)) return in[1];
  return is_all(in[0], 0) ? in[2] : Value();
}

}  // namespace

#define HUM_BINARY(variable, text, infer, place, vjp, memory_class, ...) \
  const OpDef variable = {                                               \
      text,                                                              \
      infer,                                                             \
      place,                                                             \
      vjp,                                                               \
      print_simple,                                                      \
      elementwise_cost,                                                  \
      {.memory = MemoryClass::memory_class, .elementwise = true __VA_OPT__(, ) __VA_ARGS__}};
HUM_BINARY(kAddOp, "add", same_number, place_linear, add_vjp, kCheap, .commutative = true,
           .identity = Identity::kZero)
HUM_BINARY(kSubtractOp, "subtract", same_number, place_linear, subtract_vjp, kCheap,
           .identity = Identity::kZero)
HUM_BINARY(kMultiplyOp, "multiply", same_number, place_multilinear, multiply_vjp, kCheap,
           .commutative = true, .identity = Identity::kOne)
HUM_BINARY(kDivideOp, "divide", same_number, place_elementwise, divide_vjp, kExpensive,
           .identity = Identity::kOne)
HUM_BINARY(kMaximumOp, "maximum", same_number, place_elementwise, maximum_vjp, kCheap,
           .commutative = true, .identity = Identity::kLowest, .idempotent = true)
HUM_BINARY(kMinimumOp, "minimum", same_number, place_elementwise, minimum_vjp, kCheap,
           .commutative = true, .identity = Identity::kHighest, .idempotent = true)
HUM_BINARY(kPowerOp, "power", same_float, place_elementwise, power_vjp, kExpensive,
           .identity = Identity::kOne)
HUM_BINARY(kRemainderOp, "remainder", same_number, place_elementwise, remainder_vjp, kExpensive)
HUM_BINARY(kAtan2Op, "atan2", same_float, place_elementwise, atan2_vjp, kExpensive)
HUM_BINARY(kAndOp, "and", same_bits, place_elementwise, zero_gradient, kCheap, .commutative = true,
           .identity = Identity::kAllBits, .idempotent = true)
HUM_BINARY(kOrOp, "or", same_bits, place_elementwise, zero_gradient, kCheap, .commutative = true,
           .identity = Identity::kZero, .idempotent = true)
HUM_BINARY(kXorOp, "xor", same_bits, place_elementwise, zero_gradient, kCheap, .commutative = true,
           .identity = Identity::kZero)
HUM_BINARY(kShiftLeftOp, "shift_left", same_bits, place_elementwise, zero_gradient, kCheap,
           .identity = Identity::kZero)
HUM_BINARY(kShiftRightLogicalOp, "shift_right_logical", same_bits, place_elementwise, zero_gradient,
           kCheap, .identity = Identity::kZero)
HUM_BINARY(kShiftRightArithmeticOp, "shift_right_arithmetic", same_bits, place_elementwise,
           zero_gradient, kCheap, .identity = Identity::kZero)
HUM_BINARY(kSelectOp, "select", infer_select, place_choice, select_vjp, kCheap,
           .simplify = simplify_select)
#undef HUM_BINARY
const OpDef kCompareOp = {"compare",
                          infer_compare,
                          place_elementwise,
                          zero_gradient,
                          print_compare,
                          elementwise_cost,
                          {.memory = MemoryClass::kCheap, .elementwise = true}};

Dims broadcast_dims(std::string_view op, const Shape& a, const Shape& b) {
  Dims dims(static_cast<size_t>(std::max(a.rank(), b.rank())), 1);
  for (int i = 1; i <= static_cast<int>(dims.size()); ++i) {
    const int64_t from_a = i <= a.rank() ? a.size(-i) : 1;
    const int64_t from_b = i <= b.rank() ? b.size(-i) : 1;
    HUM_REQUIRE(from_a == from_b || from_a == 1 || from_b == 1,
                "{}: {} and {} do not broadcast: sizes {} and {}", op, a, b, from_a, from_b);
    dims[dims.size() - static_cast<size_t>(i)] = from_a == 1 ? from_b : from_a;
  }
  return dims;
}

Value as_value(const Operand& operand, const Shape& like) {
  if (operand.value()) return operand.value();
  return constant(operand.number(), {like.dtype, {}}, operand.where());
}

std::pair<Value, Value> broadcast_operands(std::string_view op, const Operand& a,
                                           const Operand& b) {
  const ErrorContext context = building(op, {a.value(), b.value()}, a.where());
  HUM_REQUIRE(a.value() || b.value(), "{}: both sides are plain numbers or empty", op);
  const Shape& like = a.value() ? a.value().shape() : b.value().shape();
  const Value left = as_value(a, like), right = as_value(b, like);
  if (left.dtype() != right.dtype()) {
    fail(ExitCode::kFailure, fmt::format("{}: {} against {}", op, left.shape(), right.shape()),
         "convert one side: there is no implicit conversion");
  }
  const Dims dims = broadcast_dims(op, left.shape(), right.shape());
  return {broadcast_to(left, dims, a.where()), broadcast_to(right, dims, b.where())};
}

Value binary(const OpDef& op, const Operand& a, const Operand& b) {
  auto [left, right] = broadcast_operands(op.name, a, b);
  return NodeBuilder{.op = op, .inputs = {left, right}, .where = a.where()}.value();
}

Value operator+(Operand a, Operand b) { return binary(kAddOp, a, b); }
Value operator-(Operand a, Operand b) { return binary(kSubtractOp, a, b); }
Value operator*(Operand a, Operand b) { return binary(kMultiplyOp, a, b); }
Value operator/(Operand a, Operand b) { return binary(kDivideOp, a, b); }
Value maximum(Operand a, Operand b) { return binary(kMaximumOp, a, b); }
Value minimum(Operand a, Operand b) { return binary(kMinimumOp, a, b); }
Value power(Operand a, Operand b) { return binary(kPowerOp, a, b); }
Value remainder(Operand a, Operand b) { return binary(kRemainderOp, a, b); }
Value atan2(Operand y, Operand x) { return binary(kAtan2Op, y, x); }
Value operator&(Operand a, Operand b) { return binary(kAndOp, a, b); }
Value operator|(Operand a, Operand b) { return binary(kOrOp, a, b); }
Value operator^(Operand a, Operand b) { return binary(kXorOp, a, b); }
Value shift_left(Operand a, Operand bits) { return binary(kShiftLeftOp, a, bits); }
Value shift_right_logical(Operand a, Operand bits) { return binary(kShiftRightLogicalOp, a, bits); }
Value shift_right_arithmetic(Operand a, Operand bits) {
  return binary(kShiftRightArithmeticOp, a, bits);
}

Value add_values(const Value& a, const Value& b) {
  return NodeBuilder{.op = kAddOp, .inputs = {a, b}, .where = a.node().where()}.value();
}

namespace {
Value compare(const char* direction, const Operand& a, const Operand& b) {
  auto [left, right] = broadcast_operands("compare", a, b);
  return NodeBuilder{.op = kCompareOp,
                     .inputs = {left, right},
                     .attributes = {{"direction", std::string(direction)}},
                     .where = a.where()}
      .value();
}
}  // namespace

Value operator<(Operand a, Operand b) { return compare("LT", a, b); }
Value operator<=(Operand a, Operand b) { return compare("LE", a, b); }
Value operator>(Operand a, Operand b) { return compare("GT", a, b); }
Value operator>=(Operand a, Operand b) { return compare("GE", a, b); }
Value equal(Operand a, Operand b) { return compare("EQ", a, b); }
Value not_equal(Operand a, Operand b) { return compare("NE", a, b); }

Value select(const Value& condition, Operand a, Operand b, std::source_location where) {
  const ErrorContext context = building("select", {condition, a.value(), b.value()}, where);
  auto [left, right] = broadcast_operands("select", a, b);
  const Dims dims = broadcast_dims("select", condition.shape(), left.shape());
  return NodeBuilder{.op = kSelectOp,
                     .inputs = {broadcast_to(condition, dims, where),
                                broadcast_to(left, dims, where), broadcast_to(right, dims, where)},
                     .where = where}
      .value();
}

Value clamp(const Value& x, Operand low, Operand high) { return minimum(maximum(x, low), high); }

}  // namespace hum::graph
