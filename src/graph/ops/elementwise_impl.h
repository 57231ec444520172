// Shared by the element-wise files: broadcasts two operands to one shape, and builds one- and
// two-input nodes.
#pragma once

#include <string>
#include <utility>

#include "graph/op.h"
#include "graph/ops/elementwise.h"

namespace hum::graph {

// Returns both as Values of one shape and dtype; errors name `op`.
std::pair<Value, Value> broadcast_operands(std::string_view op, const Operand& a, const Operand& b);
// The dims of the numpy broadcast; throws naming `op` and both shapes.
Dims broadcast_dims(std::string_view op, const Shape& a, const Shape& b);
// A number as a constant with the type and dims of `like`, or the value itself.
Value as_value(const Operand& operand, const Shape& like);
Value binary(const OpDef& op, const Operand& a, const Operand& b);

}  // namespace hum::graph
