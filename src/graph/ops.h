// All ops, for code that builds graphs.
#pragma once

#include "graph/autodiff/gradients.h"
#include "graph/ops/activations.h"
#include "graph/ops/collectives.h"
#include "graph/ops/control.h"
#include "graph/ops/convolution.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/random.h"
#include "graph/ops/reduce_window.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/sort.h"
#include "graph/ops/spectral.h"
#include "graph/ops/structure.h"
