// What a compiled function computes and moves, counted from the graph alone: for plans of its time.
#pragma once

#include <functional>

#include "graph/function.h"

namespace hum::graph {

struct Work {
  // Of matrix products and convolutions, those inside kernels too, in loops as often as they run;
  // two for a multiplication with its addition. Loops without a fixed number of rounds count once.
  double product_flops = 0;
  // Of those, the operands' type that most have.
  DType product_dtype = DType::kF32;
  // Read and written by XLA's fused loops, products and kernels, each array once by each; arguments
  // once.
  double bytes = 0;
};

// How often a node's regions run: a scan's as often as it has steps; a while's, of no fixed number,
// count once, and so do all others.
double region_rounds(const Node& node);

// `function`: after the passes. use_kernel: which custom calls run as kernels, the others as their
// fallback.
Work count_work(
    const Function& function,
    const std::function<bool(const Node&)>& use_kernel = [](const Node&) { return false; });

}  // namespace hum::graph
