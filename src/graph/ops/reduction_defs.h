// The OpDef rows of reduction.cpp, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kReduceSumOp, kReduceMaxOp, kReduceMinOp, kReduceProdOp, kReduceAndOp,
    kReduceOrOp;

}  // namespace hum::graph
