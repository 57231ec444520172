// Removes nodes that return one of their inputs unchanged or that undo their input.
#pragma once

#include "graph/function.h"

namespace hum::graph {

// Also works inside regions. Results do not change by a bit, except the sign of a zero: x + 0
// becomes x (as in XLA), and -0 + 0 would have been +0.
Function simplify_algebra(const Function& function);

}  // namespace hum::graph
