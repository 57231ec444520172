// The OpDef rows of the shape files, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kReshapeOp, kTransposeOp, kReverseOp, kConcatenateOp, kSliceOp, kPadOp;

}  // namespace hum::graph
