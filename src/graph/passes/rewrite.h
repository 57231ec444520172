// Rebuilding a graph with some of its nodes replaced.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "graph/value.h"

namespace hum::graph {

// Rebuilds the roots, replacing each node's outputs by the result of `replace`; nodes for which it
// returns nothing are kept (on rebuilt inputs if those changed). It is called on inputs before
// users, with the node's inputs already rebuilt, and never on parameters.
Values rewrite(
    std::span<const Value> roots,
    const std::function<std::optional<Values>(const Node& node, const Values& inputs)>& replace);

// Rebuilds the roots with each first value replaced by the second, of the same shape. Nodes that
// only the replaced values depended on become unreachable.
Values replace_values(std::span<const Value> roots,
                      std::span<const std::pair<Value, Value>> replacements);

// All outputs of a node.
Values outputs_of(const Node& node);

}  // namespace hum::graph
