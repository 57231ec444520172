// Removes unused computations. Nodes that no result reaches are never printed, so this pass only
// looks inside nodes that have bodies.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Drops loop carries that only feed themselves, unread stacks and slices of scans, unread results
// of calls, and the inputs that only those needed. Keeps a kernel's results: it writes all of them.
// Runs after autodiff: it drops custom gradients from the nodes it changes.
Function remove_dead_code(const Function& function);

}  // namespace hum::graph
