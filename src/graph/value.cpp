#include "graph/value.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/structure.h"

namespace hum::graph {

const Shape& Value::shape() const {
  HUM_REQUIRE(node_ != nullptr, "an empty value was used");
  return node_->shapes()[static_cast<size_t>(index_)];
}

const Placement& Value::placement() const {
  HUM_REQUIRE(node_ != nullptr, "an empty value was used");
  return node_->placements()[static_cast<size_t>(index_)];
}

Attributes::Attributes(std::initializer_list<std::pair<std::string, Attribute>> items)
    : items_(items) {
  std::ranges::sort(items_, {}, &std::pair<std::string, Attribute>::first);
}

void Attributes::set(std::string name, Attribute value) {
  const auto at =
      std::ranges::lower_bound(items_, name, {}, &std::pair<std::string, Attribute>::first);
  if (at != items_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    items_.emplace(at, std::move(name), std::move(value));
  }
}

const Attribute* Attributes::find(std::string_view name) const {
  const auto found = std::ranges::find(items_, name, &std::pair<std::string, Attribute>::first);
  return found == items_.end() ? nullptr : &found->second;
}

const Attribute& Attributes::at(std::string_view name) const {
  const Attribute* attribute = find(name);
  HUM_CHECK(attribute != nullptr, "no attribute '{}'", name);
  return *attribute;
}

// Chains of a hundred thousand nodes are normal: inputs are released in a loop, not by recursion.
Node::~Node() {
  Values pending = std::move(inputs_);
  while (!pending.empty()) {
    std::shared_ptr<const Node> node = pending.back().node_ptr();
    pending.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    auto& inputs = const_cast<Node&>(*node).inputs_;  // the last owner may modify it
    std::ranges::move(inputs, std::back_inserter(pending));
    inputs.clear();
  }
}

std::string Node::where_string() const {
  const std::string_view file = where_.file_name();
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), where_.line());
}

std::shared_ptr<const Node> NodeBuilder::build() && {
  const ErrorContext context([&] {
    std::string shapes;
    for (const Value& input : inputs) {
      shapes += (shapes.empty() ? "" : ", ") + (input ? input.shape().to_string() : "empty");
    }
    const std::string_view file = where.file_name();
    return fmt::format("building {}({}) at {}:{}", op.name, shapes,
                       file.substr(file.rfind('/') + 1), where.line());
  });
  for (const Value& input : inputs) HUM_REQUIRE(bool(input), "{}: empty value", op.name);
  std::shared_ptr<Node> node(new Node());
  node->op_ = &op;
  node->attributes_ = std::move(attributes);
  node->inputs_ = inputs;
  node->regions_ = std::move(regions);
  node->custom_vjp_ = std::move(custom_vjp);
  node->where_ = where;
  node->shapes_ = op.infer(*node);
  node->placements_ = op.place(*node);
  HUM_CHECK(node->placements_.size() == node->shapes_.size());
  return node;
}

Values NodeBuilder::values() && {
  const auto node = std::move(*this).build();
  Values results;
  for (int i = 0; i < node->output_count(); ++i) results.push_back(node->output(i));
  return results;
}

std::shared_ptr<const Node> clone_with(const Node& node, Values inputs,
                                       std::vector<Region> regions) {
  return NodeBuilder{node.op(),          std::move(inputs), node.attributes(),
                     std::move(regions), node.custom_vjp(), node.where()}
      .build();
}

std::vector<const Node*> topological_order(std::span<const Value> roots) {
  std::vector<const Node*> order;
  std::unordered_set<const Node*> seen;
  std::vector<std::pair<const Node*, size_t>> stack;
  for (const Value& root : roots) {
    if (!root || !seen.insert(&root.node()).second) continue;
    stack.emplace_back(&root.node(), 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == node->inputs().size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const Node* input = &node->inputs()[next++].node();
      if (seen.insert(input).second) stack.emplace_back(input, 0);
    }
  }
  return order;
}

namespace {

using NodeMap = std::unordered_map<const Node*, std::shared_ptr<const Node>>;

struct ValueHash {
  size_t operator()(const Value& value) const {
    return std::hash<const void*>()(value.node_ptr().get()) * 31 +
           static_cast<size_t>(value.index());
  }
};
using ValueMap = std::unordered_map<Value, Value, ValueHash>;

// `roots` with each key of `replacements` replaced by its value, everywhere.
Values substitute(std::span<const Value> roots, const ValueMap& replacements) {
  NodeMap clones;
  auto mapped = [&](const Value& value) -> Value {
    if (const auto found = replacements.find(value); found != replacements.end()) {
      return found->second;
    }
    const auto clone = clones.find(&value.node());
    return clone == clones.end() ? value : Value(clone->second, value.index());
  };
  for (const Node* node : topological_order(roots)) {
    Values inputs;
    for (const Value& input : node->inputs()) inputs.push_back(mapped(input));
    if (inputs != node->inputs()) {
      clones[node] = clone_with(*node, std::move(inputs), node->regions());
    }
  }
  Values results;
  for (const Value& root : roots) results.push_back(mapped(root));
  return results;
}

// The outside values that a traced body uses: those that depend on some parameter but not on the
// region's own.
Values find_captures(const Region& region) {
  std::unordered_set<const Node*> own, dependent, parametric;
  for (const Value& parameter : region.parameters) own.insert(&parameter.node());
  const auto order = topological_order(region.results);
  for (const Node* node : order) {
    const bool is_own = own.contains(node);
    bool depends = is_own, has_parameter = is_parameter(*node);
    for (const Value& input : node->inputs()) {
      depends |= dependent.contains(&input.node());
      has_parameter |= parametric.contains(&input.node());
    }
    if (depends) dependent.insert(node);
    if (has_parameter) parametric.insert(node);
  }
  Values captures;
  auto consider = [&](const Value& value) {
    const Node* node = &value.node();
    if (dependent.contains(node) || !parametric.contains(node)) return;
    if (std::ranges::find(captures, value) == captures.end()) captures.push_back(value);
  };
  for (const Node* node : order) {
    if (!dependent.contains(node)) continue;
    for (const Value& input : node->inputs()) consider(input);
  }
  for (const Value& result : region.results) consider(result);
  return captures;
}

}  // namespace

Values inline_region(const Region& region, std::span<const Value> arguments) {
  HUM_CHECK(arguments.size() == region.parameters.size());
  ValueMap replacements;
  for (size_t i = 0; i < arguments.size(); ++i) {
    HUM_CHECK(arguments[i].shape() == region.parameters[i].shape(), "{} against {}",
              arguments[i].shape(), region.parameters[i].shape());
    replacements.emplace(region.parameters[i], arguments[i]);
  }
  return substitute(region.results, replacements);
}

TracedRegion trace_region(std::span<const Value> arguments,
                          const std::function<Values(std::span<const Value>)>& body) {
  TracedRegion traced;
  for (const Value& argument : arguments) {
    traced.region.parameters.push_back(parameter("region", argument.shape(), argument.placement()));
  }
  traced.region.results = body(traced.region.parameters);
  traced.captures = find_captures(traced.region);
  ValueMap replacements;
  for (const Value& capture : traced.captures) {
    traced.region.parameters.push_back(parameter("capture", capture.shape(), capture.placement()));
    replacements.emplace(capture, traced.region.parameters.back());
  }
  traced.region.results = substitute(traced.region.results, replacements);
  return traced;
}

}  // namespace hum::graph
