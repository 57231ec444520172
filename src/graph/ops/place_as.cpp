#include "graph/ops/place_as.h"

#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

// A placement as a node attribute: kind and dim of each mesh axis in turn.
Dims placement_attribute(const Placement& placement) {
  Dims flat;
  for (const AxisPlacement& axis : placement.axes) {
    flat.push_back(static_cast<int64_t>(axis.kind));
    flat.push_back(axis.dim);
  }
  return flat;
}

Placement placement_attribute(const Attributes& attributes, std::string_view name) {
  const Dims& flat = attributes.get<Dims>(name);
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    placement.axes[axis] = {static_cast<PlacementKind>(flat[2 * axis]),
                            static_cast<int>(flat[2 * axis + 1])};
  }
  return placement;
}

Shapes infer_place_as(const Node& node) { return {node.input(0).shape()}; }

std::vector<Placement> place_place_as(const Node& node) {
  return {placement_attribute(node.attributes(), "placement")};
}

Values place_as_vjp(const Node& node, std::span<const Value> cotangents) {
  return {place_as(cotangents[0], cotangent_placement(node.input(0).placement()))};
}

Value simplify_place_as(const Node& node, const Values& in) {
  return in[0].placement() == node.placements()[0] ? in[0] : Value();
}

void print_place_as(Printer& out, const Node& node) {
  out.alias(node.output(), out.operand(node.input(0)));
}

Cost no_cost(const Node&) { return {}; }

}  // namespace

const OpDef kPlaceAsOp = {
    "place_as",
    infer_place_as,
    place_place_as,
    place_as_vjp,
    print_place_as,
    no_cost,
    {.memory = MemoryClass::kAlias, .elementwise = false, .simplify = simplify_place_as}};

Value place_as(const Value& x, const Placement& placement, std::source_location where) {
  if (x.placement() == placement) return x;
  return NodeBuilder{.op = kPlaceAsOp,
                     .inputs = {x},
                     .attributes = {{"placement", placement_attribute(placement)}},
                     .where = where}
      .value();
}

Value placed_zeros(const Shape& shape, const Placement& placement, std::source_location where) {
  const Value zero = constant(0, {shape.dtype, {}}, where);
  return place_as(broadcast_to(zero, shape.dims, where), placement, where);
}

Placement cotangent_placement(Placement placement) {
  for (AxisPlacement& axis : placement.axes) {
    if (axis.kind == PlacementKind::kPartial) axis = kReplicated;
  }
  return placement;
}

}  // namespace hum::graph
