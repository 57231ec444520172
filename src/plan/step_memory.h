// Memory of one device during a step that hum itself runs, from the step's graph: any model,
// nothing is compiled.
#pragma once

#include <functional>

#include "graph/function.h"
#include "plan/memory.h"

namespace hum::plan {

// A traced step. Its function's parameters: weights, moments, then what a step is given; its
// results: new weights and moments, the loss, more scalars, and last the gradients, which the
// program does not give.
struct TracedStep {
  graph::Function function;
  size_t weights = 0, moments = 0, gradients = 0;  // arrays
};

// Bytes in the types that the step has them in; what it is given counts as activations, logits as
// temporaries. Gradients are those that are alive when most is. use_kernel: which custom calls run
// as kernels. Source: graph/memory/estimate.h, whose total this is.
Memory memory_per_device(const TracedStep& step,
                         const std::function<bool(const graph::Node&)>& use_kernel);

}  // namespace hum::plan
