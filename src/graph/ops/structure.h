// Ops without arithmetic: parameters, calls with a body, barriers.
#pragma once

#include <source_location>
#include <span>
#include <string>

#include "graph/value.h"

namespace hum::graph {

bool is_parameter(const Node& node);
const std::string& parameter_name(const Node& node);

// The region's results on `arguments`, printed inline. The gradient is `vjp`; if empty, the
// region's own.
Values call(std::string name, std::span<const Value> arguments, Region region, CustomVjp vjp,
            std::source_location where = std::source_location::current());

// Returns the values unchanged; none is available before all of them are.
Values optimization_barrier(std::span<const Value> values,
                            std::source_location where = std::source_location::current());

}  // namespace hum::graph
