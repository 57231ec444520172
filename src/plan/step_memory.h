// Memory of one device during a step that hum itself runs, from the step's graph. Works for any
// model and compiles nothing.
#pragma once

#include <functional>

#include "graph/function.h"
#include "plan/memory.h"

namespace hum::plan {

// A traced step. Its function's parameters: weights, moments, then the step's inputs; its results:
// new weights and moments, the loss, more scalars, and last the gradients, which the program does
// not return.
struct TracedStep {
  graph::Function function;
  size_t weights = 0, moments = 0, gradients = 0;  // arrays
};

// Bytes in the types used by the step; step inputs count as activations, logits as temporaries.
// Gradients are those alive at the peak. use_kernel: which custom calls run as kernels. Source:
// graph/memory/estimate.h; the total equals its estimate.
Memory memory_per_device(const TracedStep& step,
                         const std::function<bool(const graph::Node&)>& use_kernel);

}  // namespace hum::plan
