#include "graph/op.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace hum::graph {
namespace {

struct Range {
  double lowest, highest;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kBF16:
      return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    case DType::kI32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kU32:
      return {0, std::numeric_limits<uint32_t>::max()};
    case DType::kU8:
      return {0, std::numeric_limits<uint8_t>::max()};
    case DType::kI1:
      return {0, 1};
  }
  return {};
}

}  // namespace

double identity_number(Identity identity, DType dtype) {
  switch (identity) {
    case Identity::kNone:
      break;
    case Identity::kZero:
      return 0;
    case Identity::kOne:
      return 1;
    case Identity::kAllBits:
      HUM_CHECK(!is_float(dtype), "all bits of a {}", name(dtype));
      return dtype == DType::kI32 ? -1 : range_of(dtype).highest;
    case Identity::kLowest:
      return range_of(dtype).lowest;
    case Identity::kHighest:
      return range_of(dtype).highest;
  }
  HUM_CHECK(false, "no identity");
  return 0;
}

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
