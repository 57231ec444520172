// What a training step's memory is for: the peak of estimate_memory(), split.
#pragma once

#include <cstdint>
#include <functional>

#include "graph/function.h"

namespace hum::graph {

// Bytes that are alive when most is, beside arguments and the results in donated ones.
struct MemoryPurposes {
  int64_t activations = 0;  // made on the way to the loss
  int64_t gradients = 0;    // of parameters
  int64_t collectives = 0;  // what collectives gave
  // The rest: cotangents, what is computed again, what a loop holds of its own.
  int64_t temporaries = 0;
  int64_t total() const { return activations + gradients + collectives + temporaries; }
};

// `function`: a step after the passes, with its gradients as further results: the first `results`
// are those that it gives, number `loss` of them is its loss. use_kernel: as for estimate_memory(),
// of whose temporary bytes these are the parts.
MemoryPurposes memory_purposes(const Function& function, size_t results, size_t loss,
                               const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
