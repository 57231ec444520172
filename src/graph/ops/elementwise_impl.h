// Shared by the elementwise files: broadcasting two operands to one shape, and building one- and
// two-input nodes.
#pragma once

#include <string>
#include <utility>

#include "graph/op.h"
#include "graph/ops/elementwise.h"

namespace hum::graph {

// Both as Values of one shape and dtype; `op` names the op in errors.
std::pair<Value, Value> broadcast_operands(std::string_view op, const Operand& a, const Operand& b);
// dims of the numpy broadcast; throws naming `op` and both shapes.
Dims broadcast_dims(std::string_view op, const Shape& a, const Shape& b);
// A number as a constant like `like`, or the value itself.
Value as_value(const Operand& operand, const Shape& like);
Value binary(const OpDef& op, const Operand& a, const Operand& b);

}  // namespace hum::graph
