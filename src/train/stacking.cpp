#include "train/stacking.h"

#include <algorithm>
#include <unordered_map>

#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/structure.h"
#include "graph/ops/table.h"
#include "graph/passes/rewrite.h"

namespace hum::train {
namespace {

using graph::Node;
using graph::Value;

// Convert the values of a loss to one list and back.
graph::Values flattened(const nn::Loss& loss) {
  graph::Values values = {loss.total};
  for (const auto& [name, value] : loss.metrics) values.push_back(value);
  for (const auto& [buffer, value] : loss.buffer_updates) values.push_back(value);
  return values;
}

nn::Loss with_values(nn::Loss loss, const graph::Values& values) {
  size_t next = 0;
  loss.total = values[next++];
  for (auto& [name, value] : loss.metrics) value = values[next++];
  for (auto& [buffer, value] : loss.buffer_updates) value = values[next++];
  return loss;
}

using Owners = std::unordered_map<const Node*, const nn::Parameter*>;
using Uses = std::unordered_map<const Node*, int>;

// The trained parameters that `node` joins into a stack; empty when it is not such a stack.
std::vector<const nn::Parameter*> members_of(const Node& node, const Owners& owners, Uses& uses) {
  std::vector<const nn::Parameter*> members;
  if (&node.op() != &graph::kConcatenateOp || node.attributes().get<int64_t>("dim") != 0) return {};
  for (const Value& input : node.inputs()) {
    const Node& row = input.node();
    if (&row.op() != &graph::kReshapeOp || input.size(0) != 1) return {};
    const Value& source = row.input(0);
    const auto owner = owners.find(&source.node());
    if (owner == owners.end() || input.rank() != source.rank() + 1 || uses[&source.node()] != 1 ||
        uses[&row] != 1) {
      return {};
    }
    members.push_back(owner->second);
  }
  return members;
}

std::string stack_name(const std::vector<const nn::Parameter*>& members) {
  return members.front()->name + ".." + std::to_string(members.size());
}

}  // namespace

StackedLoss stack_parameters(const nn::TrainSpec& spec, nn::Loss loss) {
  Owners owners;
  for (const auto& parameter : spec.parameters->all()) {
    if (spec.trains(parameter)) owners.emplace(&parameter.value.node(), &parameter);
  }
  const graph::Values roots = flattened(loss);
  const auto order = graph::topological_order(roots);
  Uses uses;
  for (const Node* node : order) {
    for (const Value& input : node->inputs()) ++uses[&input.node()];
  }
  std::vector<std::pair<Value, Value>> replaced;
  std::unordered_map<const nn::Parameter*, ParameterSlot> stacks;  // by first member
  std::unordered_map<const nn::Parameter*, bool> is_member;
  for (const Node* node : order) {
    const auto members = members_of(*node, owners, uses);
    if (members.size() < 2) continue;
    const Value stack = graph::parameter(stack_name(members), node->shapes()[0]);
    replaced.emplace_back(node->output(), stack);
    stacks[members[0]] = {members, stack};
    for (const auto* member : members) is_member[member] = true;
  }
  StackedLoss result{with_values(std::move(loss), graph::replace_values(roots, replaced)), {}};
  for (const auto& parameter : spec.parameters->all()) {
    if (const auto stack = stacks.find(&parameter); stack != stacks.end()) {
      result.slots.push_back(stack->second);
    } else if (!is_member.contains(&parameter)) {
      result.slots.push_back({{&parameter}, parameter.value});
    }
  }
  return result;
}

StackedLoss narrow_parameters(const nn::TrainSpec& spec, StackedLoss stacked) {
  std::vector<std::pair<Value, Value>> replaced;
  for (ParameterSlot& slot : stacked.slots) {
    const nn::Parameter& first = *slot.members[0];
    if (!spec.trains(first) || first.value.rank() < 2) continue;
    const Value wide = slot.value;
    const std::string& name = graph::parameter_name(wide.node());
    slot.value = graph::parameter(name, {graph::DType::kBF16, wide.dims()});
    slot.read = graph::convert(slot.value, graph::DType::kF32);
    replaced.emplace_back(wide, slot.read);
  }
  const graph::Values values = graph::replace_values(flattened(stacked.loss), replaced);
  stacked.loss = with_values(std::move(stacked.loss), values);
  return stacked;
}

}  // namespace hum::train
