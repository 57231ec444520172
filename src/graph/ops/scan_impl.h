// Shared by the scan files.
#pragma once

#include "graph/placement.h"

namespace hum::graph {

// The placement of a value with `by` more leading dims (fewer, if negative).
Placement moved_shards(const Placement& placement, int by);

}  // namespace hum::graph
