// Counts a compiled function's work and memory traffic from the graph alone, for predicting its
// time.
#pragma once

#include <functional>

#include "graph/function.h"

namespace hum::graph {

struct Work {
  // FLOPs of matrix products and convolutions, including those inside kernels and, for loops, every
  // iteration. A multiply-add counts as two. Loops without a fixed trip count are counted once.
  double product_flops = 0;
  // The most common operand type of those products.
  DType product_dtype = DType::kF32;
  // Bytes read and written by XLA's fused loops, products and kernels. Each array counts once per
  // reader or writer; arguments count once.
  double bytes = 0;
};

// How often a node's regions run: the number of steps for a scan; 1 for a while, whose trip count
// is unknown, and for all others.
double region_rounds(const Node& node);

// `function`: after the passes. use_kernel: which custom calls run as kernels; the others run as
// their fallback.
Work count_work(
    const Function& function,
    const std::function<bool(const Node&)>& use_kernel = [](const Node&) { return false; });

}  // namespace hum::graph
