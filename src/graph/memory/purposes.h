// Splits a training step's peak memory, from estimate_memory(), by purpose.
#pragma once

#include <cstdint>
#include <functional>

#include "graph/function.h"

namespace hum::graph {

// Bytes alive at the peak, besides arguments and the results stored in donated ones.
struct MemoryPurposes {
  int64_t activations = 0;  // produced by the forward pass
  int64_t gradients = 0;    // parameter gradients
  int64_t collectives = 0;  // results of collectives
  // The rest: cotangents, recomputed values, arrays internal to loops.
  int64_t temporaries = 0;
  int64_t total() const { return activations + gradients + collectives + temporaries; }
};

// `function`: a step after the passes, with its gradients as additional results: the first
// `results` are the step's own results, and result number `loss` is its loss. use_kernel: same as
// for estimate_memory(), whose temporary bytes are the total of these parts.
MemoryPurposes memory_purposes(const Function& function, size_t results, size_t loss,
                               const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
