#include "graph/op.h"

namespace hum::graph {

Values zero_gradient(const Node& node, std::span<const Value>) {
  return Values(node.inputs().size());
}

double bytes_touched(const Node& node) {
  double bytes = 0;
  for (const Value& input : node.inputs()) bytes += static_cast<double>(input.shape().bytes());
  for (const Shape& shape : node.shapes()) bytes += static_cast<double>(shape.bytes());
  return bytes;
}

Cost elementwise_cost(const Node& node) {
  double elements = 0;
  for (const Shape& shape : node.shapes()) elements += static_cast<double>(shape.elements());
  for (const Value& input : node.inputs()) {
    elements = std::max(elements, static_cast<double>(input.shape().elements()));
  }
  return {elements, bytes_touched(node)};
}

Cost data_movement_cost(const Node& node) { return {0, bytes_touched(node)}; }

}  // namespace hum::graph
