// Bodies put in place of the nodes that call them.
#pragma once

#include <functional>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// The roots without calls: each `call`, and each custom call that `use_kernel` says no to, is
// replaced by its body; loops keep theirs, cleared of calls too. What a compiler gets to see.
Values inline_calls(std::span<const Value> roots,
                    const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
