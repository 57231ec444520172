// Nodes that compute the same from the same inputs become one.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Also inside regions. Nodes that have regions of their own are not merged. What lies behind an
// optimization barrier (recomputation) has other inputs than what lies before it, and stays apart.
Function merge_common_subexpressions(const Function& function);

}  // namespace hum::graph
