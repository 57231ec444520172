// The reduction rows: one associative operation over dims that are removed.
#include "graph/ops/reduction.h"

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

const Dims& reduced_dims(const Node& node) { return node.attributes().get<Dims>("dims"); }
Dims kept_dims(const Node& node) { return other_dims(node.input(0).rank(), reduced_dims(node)); }

Shapes infer_numbers(const Node& node) {
  const Shape& from = node.input(0).shape();
  HUM_REQUIRE(from.dtype != DType::kI1, "{}: needs numbers, not {}", node.op().name, from);
  return {{from.dtype, pick(from.dims, kept_dims(node))}};
}

Shapes infer_booleans(const Node& node) {
  const Shape& from = node.input(0).shape();
  HUM_REQUIRE(from.dtype == DType::kI1, "{}: needs i1, not {}", node.op().name, from);
  return {{from.dtype, pick(from.dims, kept_dims(node))}};
}

// A sharded dim that is reduced becomes `reduced`; later dims move down.
std::vector<Placement> place(const Node& node, AxisPlacement reduced) {
  const Dims& dims = reduced_dims(node);
  return {map_shards(node.input(0).placement(), [&](int cut) {
    if (contains(dims, cut)) return reduced;
    const auto below = std::ranges::count_if(dims, [&](int64_t dim) { return dim < cut; });
    return sharded(cut - static_cast<int>(below));
  })};
}

std::vector<Placement> place_sum(const Node& node) { return place(node, kPartial); }

std::vector<Placement> place_other(const Node& node) {
  for (const AxisPlacement& axis : node.input(0).placement().axes) {
    if (axis.kind != PlacementKind::kPartial) continue;
    fail(ExitCode::kFailure, fmt::format("{}: a partial sum cannot be used here", node.op().name),
         "all_reduce it first");
  }
  return place(node, sharded(AxisPlacement::kNoDim));
}

// A value of the result's shape, repeated along the reduced dims.
Value spread(const Node& node, const Value& value) {
  return broadcast_in_dim(value, node.input(0).dims(), kept_dims(node));
}

Values sum_vjp(const Node& node, Cotangents cotangents) { return {spread(node, cotangents[0])}; }

// Elements that share the extreme value share the cotangent, as in JAX.
Values extreme_vjp(const Node& node, Cotangents cotangents) {
  const Value& x = node.input(0);
  const Value chosen = equal(x, spread(node, node.output()));
  const Value count = reduce_sum(convert(chosen, DType::kF32), reduced_dims(node));
  const Value share = convert(convert(cotangents[0], DType::kF32) / count, x.dtype());
  return {select(chosen, spread(node, share), 0)};
}

// The product of the other elements, also if one element is zero.
Values prod_vjp(const Node& node, Cotangents cotangents) {
  const Value x = convert(node.input(0), DType::kF32);
  const Value is_zero = equal(x, 0);
  const Value zeros = spread(node, reduce_sum(convert(is_zero, DType::kF32), reduced_dims(node)));
  const Value safe = select(is_zero, 1, x);
  const Value product = spread(node, reduce_prod(safe, reduced_dims(node)));
  const Value others =
      select(equal(zeros, 0), product / safe, select(equal(zeros, 1) & is_zero, product, 0));
  const Value c = spread(node, convert(cotangents[0], DType::kF32));
  return {convert(c * others, node.input(0).dtype())};
}

// The smallest number of the type, as StableHLO text.
std::string_view lowest_text(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "0xFF800000";
    case DType::kBF16:
      return "0xFF80";
    case DType::kI32:
      return "-2147483648";
    default:
      return "0";
  }
}

std::string_view highest_text(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "0x7F800000";
    case DType::kBF16:
      return "0x7F80";
    case DType::kI32:
      return "2147483647";
    case DType::kU32:
      return "4294967295";
    default:
      return "255";
  }
}

std::string convert_text(const std::string& operand, const Shape& from, const Shape& to) {
  return fmt::format("stablehlo.convert {} : ({}) -> {}", operand, type_text(from), type_text(to));
}

// `widen`: bf16 runs in f32; the converts are part of the printed text.
void print_reduce(Printer& out, const Node& node, std::string_view operation,
                  std::string_view initial, bool widen) {
  const Shape &from = node.input(0).shape(), &to = node.shapes()[0];
  widen = widen && from.dtype == DType::kBF16;
  const DType dtype = widen ? DType::kF32 : from.dtype;
  const Shape in{dtype, from.dims}, scalar{dtype, {}}, result{dtype, to.dims};
  std::string operand = out.operand(node.input(0));
  if (widen) operand = out.emit(convert_text(operand, from, in));
  const std::string start =
      out.emit(fmt::format("stablehlo.constant dense<{}> : {}", initial, type_text(scalar)));
  const std::string text = fmt::format(
      "stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {} : ({}, {}) -> {}",
      operand, start, operation, list_text(reduced_dims(node)), type_text(in), type_text(scalar),
      type_text(result));
  if (!widen) return out.define(node, text);
  out.define(node, convert_text(out.emit(text), result, to));
}

void print_sum(Printer& out, const Node& node) {
  print_reduce(out, node, "add", is_float(node.input(0).dtype()) ? "0.0" : "0", true);
}
void print_prod(Printer& out, const Node& node) {
  print_reduce(out, node, "multiply", is_float(node.input(0).dtype()) ? "1.0" : "1", true);
}
void print_max(Printer& out, const Node& node) {
  print_reduce(out, node, "maximum", lowest_text(node.input(0).dtype()), false);
}
void print_min(Printer& out, const Node& node) {
  print_reduce(out, node, "minimum", highest_text(node.input(0).dtype()), false);
}
void print_and(Printer& out, const Node& node) { print_reduce(out, node, "and", "true", false); }
void print_or(Printer& out, const Node& node) { print_reduce(out, node, "or", "false", false); }

Value reduce(const OpDef& op, const Value& x, Dims dims, bool keepdims,
             std::source_location where) {
  if (dims.empty()) return x;
  dims = resolve_dims(op.name, x, std::move(dims), where);
  Dims kept = x.dims();
  for (const int64_t dim : dims) kept[static_cast<size_t>(dim)] = 1;
  const Value result =
      NodeBuilder{
          .op = op, .inputs = {x}, .attributes = {{"dims", std::move(dims)}}, .where = where}
          .value();
  return keepdims ? reshape(result, std::move(kept), where) : result;
}

}  // namespace

const OpDef kReduceSumOp = {"reduce_sum",
                            infer_numbers,
                            place_sum,
                            sum_vjp,
                            print_sum,
                            elementwise_cost,
                            {.memory = MemoryClass::kReduction, .elementwise = false}};
const OpDef kReduceMaxOp = {"reduce_max",
                            infer_numbers,
                            place_other,
                            extreme_vjp,
                            print_max,
                            elementwise_cost,
                            {.memory = MemoryClass::kReduction, .elementwise = false}};
const OpDef kReduceMinOp = {"reduce_min",
                            infer_numbers,
                            place_other,
                            extreme_vjp,
                            print_min,
                            elementwise_cost,
                            {.memory = MemoryClass::kReduction, .elementwise = false}};
const OpDef kReduceProdOp = {"reduce_prod",
                             infer_numbers,
                             place_other,
                             prod_vjp,
                             print_prod,
                             elementwise_cost,
                             {.memory = MemoryClass::kReduction, .elementwise = false}};
const OpDef kReduceAndOp = {"reduce_and",
                            infer_booleans,
                            place_other,
                            zero_gradient,
                            print_and,
                            elementwise_cost,
                            {.memory = MemoryClass::kReduction, .elementwise = false}};
const OpDef kReduceOrOp = {"reduce_or",
                           infer_booleans,
                           place_other,
                           zero_gradient,
                           print_or,
                           elementwise_cost,
                           {.memory = MemoryClass::kReduction, .elementwise = false}};

#define HUM_DEFINE_REDUCTION(function, row)                                              \
  Value function(const Value& x, Dims dims, bool keepdims, std::source_location where) { \
    return reduce(row, x, std::move(dims), keepdims, where);                             \
  }
HUM_DEFINE_REDUCTION(reduce_sum, kReduceSumOp)
HUM_DEFINE_REDUCTION(reduce_max, kReduceMaxOp)
HUM_DEFINE_REDUCTION(reduce_min, kReduceMinOp)
HUM_DEFINE_REDUCTION(reduce_prod, kReduceProdOp)
HUM_DEFINE_REDUCTION(reduce_and, kReduceAndOp)
HUM_DEFINE_REDUCTION(reduce_or, kReduceOrOp)
#undef HUM_DEFINE_REDUCTION

}  // namespace hum::graph
