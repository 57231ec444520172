// Estimates the memory a compiled function needs on its device, from the graph alone and before
// compilation: arguments, results in the buffers of donated arguments, and the values that XLA's
// fused loops on CPU write and that are alive at the same time. For training steps of hum's models
// with kernels, the estimate was within 7 % of the compiler's own report (the plan-memory bench).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

struct LiveArray {
  int64_t bytes = 0;
  Shape shape;
  std::string what;  // "dot_general made at transformer.cpp:80", "input p.embed.weight"
};

struct MemoryEstimate {
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;
  int64_t alias_bytes = 0;      // outputs stored in donated arguments
  int64_t temporary_bytes = 0;  // peak of the other live bytes
  int64_t total_bytes() const {
    return argument_bytes + output_bytes - alias_bytes + temporary_bytes;
  }
  // The largest arrays alive at the peak, arguments included, largest first.
  std::vector<LiveArray> largest;
};

// `function`: after the passes. use_kernel: which custom calls run as kernels; the others run as
// their fallback.
MemoryEstimate estimate_memory(
    const Function& function,
    const std::function<bool(const Node&)>& use_kernel = [](const Node&) { return false; });

}  // namespace hum::graph
