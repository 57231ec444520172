// Finds the first non-finite value: adds a result with one flag per floating-point value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

struct FiniteChecks {
  // The value that each flag describes, inputs before users: "log made at layers.cpp:20
  // (f32[8,4])".
  std::vector<std::string> flags;
  // The flags of the function's own results.
  std::vector<size_t> results;
};

// Adds the result i1[flags]: true where every element is finite. Calls are inlined; for a loop, its
// results are checked and reported with the loop's line. Constants (masks of -inf) are skipped.
FiniteChecks add_finite_checks(Function& function,
                               const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
