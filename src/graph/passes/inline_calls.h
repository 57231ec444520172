// Replaces calls by their bodies.
#pragma once

#include <functional>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// The roots without calls: each `call`, and each custom call that `use_kernel` rejects, is replaced
// by its body. Loops keep their bodies, in which calls are also inlined. This is the graph that a
// compiler sees.
Values inline_calls(std::span<const Value> roots,
                    const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
