// Runs the passes between autodiff and printing. Each pass is timed and verified, and can be
// skipped by name (HUM_SKIP_PASS=a,b).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

struct Pass {
  std::string_view name;
  Function (*run)(const Function& function);
};

// All passes, in the order they run.
std::span<const Pass> pass_table();

struct PassReport {
  std::string_view name;
  bool skipped = false;
  double milliseconds = 0;
  // Nodes that results depend on, without regions.
  size_t nodes_before = 0, nodes_after = 0;
};

struct PassedFunction {
  Function function;
  std::vector<PassReport> reports;
};

// Runs every pass. Throws (a bug in hum) if a pass changes the results' shapes or placements.
PassedFunction run_passes(const Function& function);

}  // namespace hum::graph
