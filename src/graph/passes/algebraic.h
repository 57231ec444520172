// Nodes that give one of their inputs back, or whose input undoes them, are left out.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Also inside regions. Results stay what they were to the last bit, but for the sign of a zero:
// x + 0 becomes x (as in XLA), and -0 + 0 would have been +0.
Function simplify_algebra(const Function& function);

}  // namespace hum::graph
