// The OpDef row of convolution.cpp, for the op table.
#pragma once

#include "graph/op.h"

namespace hum::graph {

extern const OpDef kConvolutionOp;

}  // namespace hum::graph
