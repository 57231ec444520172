// while_loop. Inputs: the carry, then outside values used by condition and body, carried unchanged.
#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/control.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

Shapes infer_while(const Node& node) {
  const Values& condition = node.regions()[0].results;
  HUM_REQUIRE(condition.size() == 1 && condition[0].shape() == (Shape{DType::kI1, {}}),
              "while: the condition must be one i1, not {}",
              condition.empty() ? "nothing" : condition[0].shape().to_string());
  const Values& results = node.regions()[1].results;
  HUM_REQUIRE(results.size() == node.inputs().size(),
              "while: {} values are carried, {} are returned", node.inputs().size(),
              results.size());
  Shapes shapes;
  for (size_t i = 0; i < results.size(); ++i) {
    const Value& before = node.inputs()[i];
    HUM_REQUIRE(results[i].shape() == before.shape(), "while: carry {} is {}, but {} is returned",
                i, before.shape(), results[i].shape());
    HUM_REQUIRE(results[i].placement() == before.placement(),
                "while: carry {} ({}) is placed {}, but is returned as {}", i, before.shape(),
                before.placement(), results[i].placement());
    shapes.push_back(before.shape());
  }
  return shapes;
}

std::vector<Placement> place_while(const Node& node) {
  std::vector<Placement> placements;
  for (const Value& input : node.inputs()) placements.push_back(input.placement());
  return placements;
}

void print_while(Printer& out, const Node& node) {
  const std::string types = Printer::types(node.inputs());
  out.define_with_regions(node, fmt::format("\"stablehlo.while\"({})", out.operands(node.inputs())),
                          node.regions(), fmt::format(": ({}) -> ({})", types, types));
}

// Of one iteration: the trip count is unknown.
Cost while_cost(const Node& node) {
  Cost total;
  for (const Region& region : node.regions()) {
    for (const Node* inner : topological_order(region.results)) {
      const Cost cost = inner->op().cost(*inner);
      total.flops += cost.flops;
      total.bytes += cost.bytes;
    }
  }
  return total;
}

// The region with a parameter for each of `captures`: an existing one if it has it, else a new one.
Region with_captures(const TracedRegion& traced, size_t own, const Values& captures) {
  Region region{{traced.region.parameters.begin(),
                 traced.region.parameters.begin() + static_cast<std::ptrdiff_t>(own)},
                traced.region.results};
  for (const Value& capture : captures) {
    const auto found = std::ranges::find(traced.captures, capture);
    const auto at = static_cast<size_t>(found - traced.captures.begin());
    region.parameters.push_back(found == traced.captures.end()
                                    ? parameter("capture", capture.shape(), capture.placement())
                                    : traced.region.parameters[own + at]);
  }
  return region;
}

}  // namespace

const OpDef kWhileOp = {"while",
                        infer_while,
                        place_while,
                        kNoGradient,
                        print_while,
                        while_cost,
                        {.memory = MemoryClass::kLoop, .elementwise = false}};

Values while_loop(std::span<const Value> carry,
                  const std::function<Value(std::span<const Value>)>& condition,
                  const std::function<Values(std::span<const Value>)>& body,
                  std::source_location where) {
  const size_t own = carry.size();
  const TracedRegion test =
      trace_region(carry, [&](std::span<const Value> in) { return Values{condition(in)}; });
  const TracedRegion step = trace_region(carry, body);
  Values captures = test.captures;
  for (const Value& capture : step.captures) {
    if (std::ranges::find(captures, capture) == captures.end()) captures.push_back(capture);
  }
  Region stepping = with_captures(step, own, captures);
  stepping.results.insert(stepping.results.end(),
                          stepping.parameters.begin() + static_cast<std::ptrdiff_t>(own),
                          stepping.parameters.end());
  Values inputs(carry.begin(), carry.end());
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  Values results = NodeBuilder{.op = kWhileOp,
                               .inputs = std::move(inputs),
                               .regions = {with_captures(test, own, captures), std::move(stepping)},
                               .where = where}
                       .values();
  results.resize(own);
  return results;
}

}  // namespace hum::graph
