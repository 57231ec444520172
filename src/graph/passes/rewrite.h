// Rebuilding a graph with some of its nodes replaced.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "graph/value.h"

namespace hum::graph {

// The roots, with each node's outputs replaced by what `replace` gives for it; nodes for which it
// gives nothing are kept (on rebuilt inputs where those changed). It sees inputs before users, with
// the node's inputs already rebuilt. Parameters are kept and not shown.
Values rewrite(
    std::span<const Value> roots,
    const std::function<std::optional<Values>(const Node& node, const Values& inputs)>& replace);

// The roots, with each first value replaced by the second, of the same shape. What only the
// replaced ones depended on is no longer reached.
Values replace_values(std::span<const Value> roots,
                      std::span<const std::pair<Value, Value>> replacements);

// All outputs of a node.
Values outputs_of(const Node& node);

}  // namespace hum::graph
