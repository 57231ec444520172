// The OpDef rows of sort.cpp and reduce_window.cpp, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kSortOp, kReduceWindowSumOp, kReduceWindowMaxOp;

}  // namespace hum::graph
