// Shared by the files of the scan. Its backward step is a graph that computes the gradients of the
// step's inputs from the cotangents of its results.
#pragma once

#include <vector>

#include "graph/placement.h"
#include "graph/value.h"

namespace hum::graph {

// The placement of a value with `by` more leading dims (fewer, if negative).
Placement moved_shards(const Placement& placement, int by);

// The number of each kind of value in a step.
struct ScanSizes {
  size_t carries = 0, xs = 0, ys = 0;
};

// The position where the backward step finds a value of the forward step.
struct ScanSource {
  enum class Kind { kIndex, kSlice, kCapture, kResidual } kind;
  size_t at = 0;  // index among the xs, captures or residuals
};

// Maps cotangents of the step's float results, followed by the sources, to gradients.
struct ScanBackward {
  Region region;
  std::vector<size_t> cotangents;  // results of the step (carry, ys) that have one
  std::vector<size_t> gradients;   // parameters (carry, xs, captures) that get one
  std::vector<ScanSource> sources;
};

// Reads intermediates of the step, which are added to its results. Those that are the same in every
// step are recomputed from the captures instead of stacked.
ScanBackward keeping_backward(Region& step, const ScanSizes& sizes);

// Recomputes the step from its parameters; the carries are added to its results.
ScanBackward recomputing_backward(Region& step, const ScanSizes& sizes);

}  // namespace hum::graph
