// The OpDef rows of structure.cpp, for the op table and those who recognise them.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kParameterOp, kCallOp, kOptimizationBarrierOp, kStopGradientOp;

}  // namespace hum::graph
