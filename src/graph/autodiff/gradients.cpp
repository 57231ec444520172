#include "graph/autodiff/gradients.h"

#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "graph/autodiff/cotangents.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/place_as.h"
#include "graph/ops/structure.h"

namespace hum::graph {
namespace {

// Whether the node stops cotangents.
bool stops_gradient(const Node& node) {
  return !node.custom_vjp() && node.op().vjp == zero_gradient;
}

// Nodes through which cotangents can flow from `outputs` to `inputs`, inputs first.
std::vector<const Node*> nodes_between(std::span<const Value> inputs,
                                       std::span<const Value> outputs) {
  std::unordered_set<const Node*> reached;
  for (const Value& input : inputs) reached.insert(&input.node());
  std::vector<const Node*> order;
  for (const Node* node : topological_order(outputs)) {
    bool depends = reached.contains(node);
    for (const Value& input : node->inputs()) {
      depends |= reached.contains(&input.node()) && !stops_gradient(*node);
    }
    if (!depends) continue;
    reached.insert(node);
    order.push_back(node);
  }
  return order;
}

// The cotangents accumulated for the node's outputs.
Values arrived(const Node& node, CotangentSums& sums) {
  const bool partial = !node.custom_vjp() && node.op().kind.takes_partial_cotangents;
  Values cotangents;
  for (int i = 0; i < node.output_count(); ++i) {
    cotangents.push_back(partial ? sums.partial_of(node.output(i)) : sums.of(node.output(i)));
  }
  return cotangents;
}

Values node_cotangents(const Node& node, std::span<const Value> cotangents) {
  if (node.custom_vjp()) {
    Values outputs;
    for (int i = 0; i < node.output_count(); ++i) outputs.push_back(node.output(i));
    return node.custom_vjp()(node.inputs(), outputs, cotangents);
  }
  HUM_REQUIRE(node.op().vjp != kNoGradient, "{}: has no gradient (made at {})", node.op().name,
              node.where_string());
  return node.op().vjp(node, cotangents);
}

}  // namespace

Values pullback(std::span<const Value> outputs, std::span<const Value> cotangents,
                std::span<const Value> inputs) {
  HUM_REQUIRE(outputs.size() == cotangents.size(), "pullback: {} outputs, {} cotangents",
              outputs.size(), cotangents.size());
  CotangentSums sums;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (cotangents[i]) sums.add(outputs[i], cotangents[i]);
  }
  const auto order = nodes_between(inputs, outputs);
  const std::unordered_set<const Node*> wanted(order.begin(), order.end());
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (is_parameter(**node)) continue;
    const Values incoming = arrived(**node, sums);
    bool any = false;
    for (const Value& cotangent : incoming) any |= bool(cotangent);
    if (!any) continue;
    const ErrorContext context([&] {
      return fmt::format("differentiating {} made at {}", (*node)->op().name,
                         (*node)->where_string());
    });
    const Values outgoing = node_cotangents(**node, incoming);
    HUM_CHECK(outgoing.size() == (*node)->inputs().size(), "vjp of {} gave {} cotangents",
              (*node)->op().name, outgoing.size());
    for (size_t i = 0; i < outgoing.size(); ++i) {
      const Value& input = (*node)->inputs()[i];
      if (outgoing[i] && wanted.contains(&input.node())) sums.add(input, outgoing[i]);
    }
  }
  Values results;
  for (const Value& input : inputs) results.push_back(sums.partial_of(input));
  return results;
}

Values gradients(const Value& loss, std::span<const Value> parameters) {
  HUM_REQUIRE(is_float(loss.dtype()) && loss.shape().elements() == 1,
              "gradients: the loss must be one float, not {}", loss.shape());
  Values results = pullback(Values{loss}, Values{ones_like(loss)}, parameters);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) {
      const Placement placement = cotangent_placement(parameters[i].placement());
      results[i] = placed_zeros(parameters[i].shape(), placement);
    }
  }
  return results;
}

Values custom_vjp(std::span<const Value> inputs,
                  const std::function<Values(std::span<const Value>)>& f, CustomVjp vjp,
                  std::source_location where) {
  auto [region, captures] = trace_region(inputs, f);
  Values arguments(inputs.begin(), inputs.end());
  arguments.insert(arguments.end(), captures.begin(), captures.end());
  const size_t own = inputs.size();
  CustomVjp padded = [vjp = std::move(vjp), own](std::span<const Value> all,
                                                 std::span<const Value> outputs,
                                                 std::span<const Value> cotangents) {
    Values result = vjp(all.first(own), outputs, cotangents);
    result.resize(all.size());
    return result;
  };
  return call("custom_vjp", arguments, region, std::move(padded), where);
}

}  // namespace hum::graph
