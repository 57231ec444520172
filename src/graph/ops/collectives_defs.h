// The OpDef rows of the ops about placements, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kAllReduceOp, kAllGatherOp, kReduceScatterOp, kAllToAllOp, kCollectivePermuteOp,
    kShardOp, kPlaceAsOp;

}  // namespace hum::graph
