// scan: a node whose region is one step. It is printed as a while loop over slices; its gradient is
// a scan in the opposite direction over the values that each step saved.
//
// Inputs: carry, xs, captures. Region: (index, carry, slices, captures) -> (carry, ys, residuals).
// Outputs: carry, stacked ys, stacked residuals; unread stacks are not printed.
#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/control.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/place_as.h"
#include "graph/ops/scan_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

const Shape kIndexShape{DType::kI32, {}};

struct Layout {
  int64_t steps;
  size_t carries, xs;
  bool reverse;
};

Layout layout_of(const Node& node) {
  const Attributes& a = node.attributes();
  return {a.get<int64_t>("steps"), static_cast<size_t>(a.get<int64_t>("carries")),
          static_cast<size_t>(a.get<int64_t>("xs")), a.get<bool>("reverse")};
}

Values part(std::span<const Value> all, size_t from, size_t count) {
  const auto piece = all.subspan(from, count);
  return {piece.begin(), piece.end()};
}
Values rest(std::span<const Value> all, size_t from) { return part(all, from, all.size() - from); }
void append(Values& to, const Values& more) { to.insert(to.end(), more.begin(), more.end()); }

Shape stacked(const Shape& shape, int64_t steps) {
  Shape result = shape;
  result.dims.insert(result.dims.begin(), steps);
  return result;
}

Shapes infer_scan(const Node& node) {
  const Layout layout = layout_of(node);
  const Values& results = node.regions()[0].results;
  HUM_REQUIRE(results.size() >= layout.carries, "scan: {} values are carried, {} are returned",
              layout.carries, results.size());
  Shapes shapes;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i >= layout.carries) {
      shapes.push_back(stacked(results[i].shape(), layout.steps));
      continue;
    }
    const Value& before = node.inputs()[i];
    HUM_REQUIRE(results[i].shape() == before.shape(), "scan: carry {} is {}, but {} is returned", i,
                before.shape(), results[i].shape());
    HUM_REQUIRE(results[i].placement() == before.placement(),
                "scan: carry {} ({}) is placed {}, but is returned as {}", i, before.shape(),
                before.placement(), results[i].placement());
    shapes.push_back(before.shape());
  }
  return shapes;
}

std::vector<Placement> place_scan(const Node& node) {
  const size_t carries = layout_of(node).carries;
  const Values& results = node.regions()[0].results;
  std::vector<Placement> placements;
  for (size_t i = 0; i < results.size(); ++i) {
    placements.push_back(moved_shards(results[i].placement(), i < carries ? 0 : 1));
  }
  return placements;
}

Value slice_at(const Value& x, const Value& index) {
  return reshape(dynamic_slice_in_dim(x, index, 1, 0), {x.dims().begin() + 1, x.dims().end()});
}

Value with_slice(const Value& x, const Value& slice, const Value& index) {
  return dynamic_update_slice_in_dim(x, expand_dims(slice, 0), index, 0);
}

// Prints the node as a while loop. `outputs`: the stacks that are read. Returns the carry, then
// those.
Values as_while(const Node& node, std::span<const Value> inputs,
                const std::vector<size_t>& outputs) {
  const Layout layout = layout_of(node);
  const Region& region = node.regions()[0];
  const Value zero = constant(0, kIndexShape), last = constant(layout.steps - 1, kIndexShape);
  Values carry = {zero};
  append(carry, part(inputs, 0, layout.carries));
  for (const size_t output : outputs) {
    carry.push_back(placed_zeros(node.shapes()[output], node.placements()[output]));
  }
  const auto body = [&](std::span<const Value> in) {
    const Value index = layout.reverse ? last - in[0] : in[0];
    Values arguments = {index};
    append(arguments, part(in, 1, layout.carries));
    for (const Value& x : part(inputs, layout.carries, layout.xs)) {
      arguments.push_back(slice_at(x, index));
    }
    const size_t outside = layout.carries + layout.xs;
    append(arguments, part(inputs, outside, inputs.size() - outside));
    const Values results = inline_region(region, arguments);
    Values next = {in[0] + 1};
    append(next, part(results, 0, layout.carries));
    for (size_t i = 0; i < outputs.size(); ++i) {
      next.push_back(with_slice(in[1 + layout.carries + i], results[outputs[i]], index));
    }
    return next;
  };
  const auto more = [&](std::span<const Value> in) { return in[0] < layout.steps; };
  return rest(while_loop(carry, more, body, node.where()), 1);
}

void print_scan(Printer& out, const Node& node) {
  const size_t carries = layout_of(node).carries;
  std::vector<size_t> outputs;
  for (size_t i = carries; i < node.shapes().size(); ++i) {
    if (out.is_used(node, static_cast<int>(i))) outputs.push_back(i);
  }
  const TracedRegion traced = trace_region(
      node.inputs(), [&](std::span<const Value> in) { return as_while(node, in, outputs); });
  // Unread outputs are in the list, but have no value of their own.
  Region region = traced.region;
  const Values found = region.results;
  region.results.assign(node.shapes().size(), Value());
  std::copy_n(found.begin(), carries, region.results.begin());
  for (size_t i = 0; i < outputs.size(); ++i) region.results[outputs[i]] = found[carries + i];
  out.inline_body(node, region, node.inputs());
}

Cost scan_cost(const Node& node) {
  Cost total;
  for (const Node* inner : topological_order(node.regions()[0].results)) {
    const Cost cost = inner->op().cost(*inner);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  const auto steps = static_cast<double>(layout_of(node).steps);
  return {total.flops * steps, total.bytes * steps};
}

}  // namespace

Placement moved_shards(const Placement& placement, int by) {
  Placement result = placement;
  for (AxisPlacement& axis : result.axes) {
    if (axis.kind == PlacementKind::kSharded && axis.dim != AxisPlacement::kNoDim) axis.dim += by;
  }
  return result;
}

const OpDef kScanOp = {"scan",
                       infer_scan,
                       place_scan,
                       kNoGradient,
                       print_scan,
                       scan_cost,
                       {.memory = MemoryClass::kLoop, .elementwise = false}};

}  // namespace hum::graph
