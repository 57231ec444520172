// The OpDef rows of the indexing files, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kGatherOp, kScatterAddOp, kDynamicSliceOp, kDynamicUpdateSliceOp;

}  // namespace hum::graph
