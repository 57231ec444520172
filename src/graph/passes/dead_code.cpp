#include "graph/passes/dead_code.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/table.h"
#include "graph/passes/rewrite.h"

namespace hum::graph {
namespace {

using Flags = std::vector<bool>;

// The live parts of a node: flags for its inputs and outputs, and for each region's parameters and
// results.
struct Kept {
  Flags inputs, outputs;
  std::vector<Flags> parameters, results;
};

template <typename T>
std::vector<T> filtered(const std::vector<T>& all, const Flags& kept) {
  std::vector<T> left;
  for (size_t i = 0; i < all.size(); ++i) {
    if (kept[i]) left.push_back(all[i]);
  }
  return left;
}

// The parameters that the region's live results depend on.
Flags used_parameters(const Region& region, const Flags& results) {
  const auto order = topological_order(filtered(region.results, results));
  const std::unordered_set<const Node*> reached(order.begin(), order.end());
  Flags used;
  for (const Value& p : region.parameters) used.push_back(reached.contains(&p.node()));
  return used;
}

Kept whole(const Node& node) {
  Kept kept{Flags(node.inputs().size(), true), Flags(node.shapes().size(), true), {}, {}};
  for (const Region& region : node.regions()) {
    kept.parameters.emplace_back(region.parameters.size(), true);
    kept.results.emplace_back(region.results.size(), true);
  }
  return kept;
}

Kept kept_of_call(const Node& node, const Flags& live) {
  const Flags used = used_parameters(node.regions()[0], live);
  return {used, live, {used}, {live}};
}

// A carry is live if it is read, if the condition reads it, or if a live carry does.
Kept kept_of_while(const Node& node, const Flags& live) {
  Flags kept = live;
  const Flags tested = used_parameters(node.regions()[0], {true});
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] || tested[i];
  for (Flags before; before != kept;) {
    before = kept;
    const Flags used = used_parameters(node.regions()[1], kept);
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] || used[i];
  }
  return {kept, kept, {kept, kept}, {{true}, kept}};
}

// Parameters of the step: the index, then one per input. Results: carries, then stacks.
Kept kept_of_scan(const Node& node, const Flags& live) {
  const auto carries = static_cast<size_t>(node.attributes().get<int64_t>("carries"));
  Flags results = live, used;
  for (Flags before; before != results;) {
    before = results;
    used = used_parameters(node.regions()[0], results);
    for (size_t i = 0; i < carries; ++i) results[i] = results[i] || used[1 + i];
  }
  for (size_t i = 0; i < carries; ++i) used[1 + i] = results[i];
  used[0] = true;
  return {Flags(used.begin() + 1, used.end()), results, {used}, {results}};
}

struct Rule {
  const OpDef* op;
  Kept (*kept)(const Node& node, const Flags& live);
};
constexpr Rule kRules[] = {
    {&kCallOp, kept_of_call}, {&kWhileOp, kept_of_while}, {&kScanOp, kept_of_scan}};

Kept kept_of(const Node& node, const Flags& live) {
  const auto rule = std::ranges::find(kRules, &node.op(), &Rule::op);
  return rule == std::end(kRules) ? whole(node) : rule->kept(node, live);
}

// For each needed node, its live parts.
std::unordered_map<const Node*, Kept> needed(const Values& roots) {
  std::unordered_map<const Node*, Flags> live;
  const auto mark = [&](const Value& value) {
    Flags& flags = live.try_emplace(&value.node(), value.node().shapes().size()).first->second;
    flags[static_cast<size_t>(value.index())] = true;
  };
  for (const Value& root : roots) mark(root);
  std::unordered_map<const Node*, Kept> plan;
  const auto order = topological_order(roots);
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const auto found = live.find(*node);
    if (found == live.end()) continue;
    const Kept& kept = plan[*node] = kept_of(**node, found->second);
    for (const Value& input : filtered((*node)->inputs(), kept.inputs)) mark(input);
  }
  return plan;
}

Values pruned(const Values& roots);

// Number of flags set in [first, first + count).
int64_t count(const Flags& flags, size_t first, size_t count) {
  const auto at = flags.begin() + static_cast<std::ptrdiff_t>(first);
  return std::count(at, at + static_cast<std::ptrdiff_t>(count), true);
}

// The node without its dead parts; dropped outputs are empty values.
Values cut(const Node& node, const Values& inputs, const Kept& kept) {
  std::vector<Region> regions;
  for (size_t r = 0; r < node.regions().size(); ++r) {
    const Region& region = node.regions()[r];
    regions.push_back({filtered(region.parameters, kept.parameters[r]),
                       pruned(filtered(region.results, kept.results[r]))});
  }
  Attributes attributes = node.attributes();
  if (&node.op() == &kScanOp) {
    const auto carries = static_cast<size_t>(attributes.get<int64_t>("carries"));
    const auto xs = static_cast<size_t>(attributes.get<int64_t>("xs"));
    attributes.set("carries", count(kept.inputs, 0, carries));
    attributes.set("xs", count(kept.inputs, carries, xs));
  }
  const bool same = std::ranges::find(kept.outputs, false) == kept.outputs.end() &&
                    std::ranges::find(kept.inputs, false) == kept.inputs.end();
  const Values left =
      NodeBuilder{node.op(),          filtered(inputs, kept.inputs),          std::move(attributes),
                  std::move(regions), same ? node.custom_vjp() : CustomVjp(), node.where()}
          .values();
  Values outputs(kept.outputs.size());
  size_t next = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (kept.outputs[i]) outputs[i] = left[next++];
  }
  return outputs;
}

Values pruned(const Values& roots) {
  const auto plan = needed(roots);
  return rewrite(roots, [&](const Node& node, const Values& inputs) -> std::optional<Values> {
    const auto found = plan.find(&node);
    if (found == plan.end()) return Values(node.shapes().size());
    if (node.regions().empty()) return {};
    return cut(node, inputs, found->second);
  });
}

}  // namespace

Function remove_dead_code(const Function& function) {
  Function result = function;
  result.results = pruned(function.results);
  return result;
}

}  // namespace hum::graph
