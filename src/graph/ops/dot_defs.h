// The OpDef row of dot.cpp, for the op table and those who recognise it.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kDotGeneralOp;

}  // namespace hum::graph
