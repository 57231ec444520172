#include "graph/passes/rewrite.h"

#include <map>
#include <unordered_map>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/structure.h"

namespace hum::graph {

Values rewrite(
    std::span<const Value> roots,
    const std::function<std::optional<Values>(const Node& node, const Values& inputs)>& replace) {
  std::unordered_map<const Node*, Values> rebuilt;
  const auto now = [&](const Value& value) -> Value {
    const auto found = value ? rebuilt.find(&value.node()) : rebuilt.end();
    return found == rebuilt.end() ? value : found->second[static_cast<size_t>(value.index())];
  };
  for (const Node* node : topological_order(roots)) {
    if (is_parameter(*node)) continue;
    Values inputs;
    for (const Value& input : node->inputs()) inputs.push_back(now(input));
    if (auto outputs = replace(*node, inputs)) {
      HUM_CHECK(static_cast<int>(outputs->size()) == node->output_count());
      rebuilt[node] = *std::move(outputs);
    } else if (inputs != node->inputs()) {
      const auto clone = clone_with(*node, std::move(inputs), node->regions());
      for (int i = 0; i < clone->output_count(); ++i) rebuilt[node].push_back(clone->output(i));
    }
  }
  Values results;
  for (const Value& root : roots) results.push_back(now(root));
  return results;
}

Values replace_values(std::span<const Value> roots,
                      std::span<const std::pair<Value, Value>> replacements) {
  std::map<std::pair<const Node*, int>, Value> now;
  for (const auto& [from, to] : replacements) {
    HUM_CHECK(from.shape() == to.shape(), "{} against {}", from.shape(), to.shape());
    now[{&from.node(), from.index()}] = to;
  }
  const auto mapped = [&](const Value& value) -> Value {
    if (!value) return value;
    const auto found = now.find({&value.node(), value.index()});
    return found == now.end() ? value : found->second;
  };
  for (const Node* node : topological_order(roots)) {
    Values inputs;
    for (const Value& input : node->inputs()) inputs.push_back(mapped(input));
    if (inputs == node->inputs()) continue;
    const auto clone = clone_with(*node, std::move(inputs), node->regions());
    for (int i = 0; i < clone->output_count(); ++i) now.try_emplace({node, i}, clone->output(i));
  }
  Values results;
  for (const Value& root : roots) results.push_back(mapped(root));
  return results;
}

Values outputs_of(const Node& node) {
  Values outputs;
  for (int i = 0; i < node.output_count(); ++i) outputs.push_back(node.output(i));
  return outputs;
}

}  // namespace hum::graph
