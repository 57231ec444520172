// The backward step of a scan: the graph that turns cotangents of one step's results into gradients
// of what the step read. Shared by the files that make it and that run it.
#pragma once

#include <vector>

#include "graph/value.h"

namespace hum::graph {

// How many of each a step has.
struct ScanSizes {
  size_t carries = 0, xs = 0, ys = 0;
};

// Where the backward step finds a value of the forward step.
struct ScanSource {
  enum class Kind { kIndex, kSlice, kCapture, kResidual } kind;
  size_t at = 0;  // which of the xs, captures or residuals
};

// The backward step: cotangents of the step's float results, then the sources, to gradients.
struct ScanBackward {
  Region region;
  std::vector<size_t> cotangents;  // results of the step (carry, ys) that have one
  std::vector<size_t> gradients;   // parameters (carry, xs, captures) that get one
  std::vector<ScanSource> sources;
};

// Reads intermediates of the step; they are added to the step's results. Those that are the same in
// every step are computed again from the captures instead of being stacked.
ScanBackward keeping_backward(Region& step, const ScanSizes& sizes);

// Computes the step again from its parameters; the carries are added to its results.
ScanBackward recomputing_backward(Region& step, const ScanSizes& sizes);

}  // namespace hum::graph
