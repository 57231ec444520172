// Merges nodes that compute the same from the same inputs.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Also works inside regions. Does not merge nodes with regions. Values behind an optimization
// barrier (recomputation) have other inputs than those before it, so they are not merged.
Function merge_common_subexpressions(const Function& function);

}  // namespace hum::graph
