// The OpDef row of custom_call.cpp, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kCustomCallOp;

}  // namespace hum::graph
