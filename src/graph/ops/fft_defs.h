// The OpDef rows of fft.cpp, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kRfftOp, kIrfftOp;

}  // namespace hum::graph
