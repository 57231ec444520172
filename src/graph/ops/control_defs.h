// The OpDef rows of the loops, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kWhileOp, kScanOp;

}  // namespace hum::graph
