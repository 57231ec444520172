// What no result needs goes. Most of it goes by itself, since nodes that no result reaches are
// never printed; this pass looks inside nodes that have bodies.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Drops carries of loops that feed nothing but themselves, stacks and slices of scans and results
// of calls that nobody reads, and the inputs that only those needed. A kernel's results stay: it
// writes them all. Runs after autodiff: gradients given by hand are dropped from the nodes it cuts.
Function remove_dead_code(const Function& function);

}  // namespace hum::graph
