#include "graph/ops/structure.h"

#include "base/error.h"
#include "graph/autodiff/gradients.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

Shapes input_shapes(const Node& node) {
  Shapes shapes;
  for (const Value& input : node.inputs()) shapes.push_back(input.shape());
  return shapes;
}

std::vector<Placement> input_placements(const Node& node) {
  std::vector<Placement> placements;
  for (const Value& input : node.inputs()) placements.push_back(input.placement());
  return placements;
}

// A parameter gets its shape and placement from its builder, below.
constexpr std::string_view kShapeDType = "dtype", kShapeDims = "dims", kName = "name";

Shapes infer_parameter(const Node& node) {
  return {{node.attributes().get<DType>(kShapeDType), node.attributes().get<Dims>(kShapeDims)}};
}

std::vector<Placement> place_parameter(const Node& node) {
  Placement placement;
  const Dims& flat = node.attributes().get<Dims>("placement");
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    placement.axes[axis] = {static_cast<PlacementKind>(flat[2 * axis]),
                            static_cast<int>(flat[2 * axis + 1])};
  }
  return {placement};
}

void print_parameter(Printer&, const Node& node) {
  HUM_CHECK(false, "parameter '{}' is free inside a region", parameter_name(node));
}

Shapes infer_call(const Node& node) {
  const Region& region = node.regions().at(0);
  HUM_REQUIRE(region.parameters.size() == node.inputs().size(), "call: {} arguments for {}",
              node.inputs().size(), region.parameters.size());
  Shapes shapes;
  for (const Value& result : region.results) shapes.push_back(result.shape());
  return shapes;
}

std::vector<Placement> place_call(const Node& node) {
  std::vector<Placement> placements;
  for (const Value& result : node.regions()[0].results) placements.push_back(result.placement());
  return placements;
}

Values call_vjp(const Node& node, std::span<const Value> cotangents) {
  return pullback(inline_region(node.regions()[0], node.inputs()), cotangents, node.inputs());
}

void print_call(Printer& out, const Node& node) {
  out.inline_body(node, node.regions()[0], node.inputs());
}

Cost call_cost(const Node& node) {
  Cost total;
  for (const Node* inner : topological_order(node.regions()[0].results)) {
    const Cost cost = inner->op().cost(*inner);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  return total;
}

Values barrier_vjp(const Node&, std::span<const Value> cotangents) {
  return {cotangents.begin(), cotangents.end()};
}

void print_barrier(Printer& out, const Node& node) { out.define_simple(node); }

void print_stop_gradient(Printer& out, const Node& node) {
  out.alias(node.output(), out.operand(node.input(0)));
}

Value simplify_stop_gradient(const Node&, const Values& in) { return in[0]; }

Cost no_cost(const Node&) { return {}; }

}  // namespace

const OpDef kParameterOp = {"parameter",
                            infer_parameter,
                            place_parameter,
                            zero_gradient,
                            print_parameter,
                            no_cost,
                            {.memory = MemoryClass::kGiven, .elementwise = false}};
const OpDef kCallOp = {"call",
                       infer_call,
                       place_call,
                       call_vjp,
                       print_call,
                       call_cost,
                       {.memory = MemoryClass::kOpaque, .elementwise = false}};
const OpDef kOptimizationBarrierOp = {"optimization_barrier",
                                      input_shapes,
                                      input_placements,
                                      barrier_vjp,
                                      print_barrier,
                                      no_cost,
                                      {.memory = MemoryClass::kAlias, .elementwise = false}};
const OpDef kStopGradientOp = {
    "stop_gradient",
    input_shapes,
    input_placements,
    zero_gradient,
    print_stop_gradient,
    no_cost,
    {.memory = MemoryClass::kAlias, .elementwise = true, .simplify = simplify_stop_gradient}};

bool is_parameter(const Node& node) { return &node.op() == &kParameterOp; }

const std::string& parameter_name(const Node& node) {
  static const std::string kNone = "(not a parameter)";
  return is_parameter(node) ? node.attributes().get<std::string>(kName) : kNone;
}

Value parameter(std::string name, Shape shape, Placement placement, std::source_location where) {
  Dims flat;
  for (const auto& axis : placement.axes) {
    flat.push_back(static_cast<int64_t>(axis.kind));
    flat.push_back(axis.dim);
  }
  return NodeBuilder{.op = kParameterOp,
                     .attributes = {{std::string(kName), std::move(name)},
                                    {std::string(kShapeDType), shape.dtype},
                                    {std::string(kShapeDims), shape.dims},
                                    {"placement", flat}},
                     .where = where}
      .value();
}

Values call(std::string name, std::span<const Value> arguments, Region region, CustomVjp vjp,
            std::source_location where) {
  return NodeBuilder{.op = kCallOp,
                     .inputs = {arguments.begin(), arguments.end()},
                     .attributes = {{std::string(kName), std::move(name)}},
                     .regions = {std::move(region)},
                     .custom_vjp = std::move(vjp),
                     .where = where}
      .values();
}

Values optimization_barrier(std::span<const Value> values, std::source_location where) {
  return NodeBuilder{
      .op = kOptimizationBarrierOp, .inputs = {values.begin(), values.end()}, .where = where}
      .values();
}

Value stop_gradient(const Value& x) {
  return NodeBuilder{.op = kStopGradientOp, .inputs = {x}}.value();
}

}  // namespace hum::graph
