// Stores a placement as a node attribute: kind and dim of each mesh axis in turn.
#pragma once

#include "graph/value.h"

namespace hum::graph {

inline Dims placement_attribute(const Placement& placement) {
  Dims flat;
  for (const AxisPlacement& axis : placement.axes) {
    flat.push_back(static_cast<int64_t>(axis.kind));
    flat.push_back(axis.dim);
  }
  return flat;
}

inline Placement placement_attribute(const Attributes& attributes, std::string_view name) {
  const Dims& flat = attributes.get<Dims>(name);
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    placement.axes[axis] = {static_cast<PlacementKind>(flat[2 * axis]),
                            static_cast<int>(flat[2 * axis + 1])};
  }
  return placement;
}

}  // namespace hum::graph
