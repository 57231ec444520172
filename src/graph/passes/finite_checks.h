// Finding the first value that is not finite: one more result, a flag a floating-point value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/function.h"

namespace hum::graph {

struct FiniteChecks {
  // What each flag is of, inputs before users: "log made at layers.cpp:20 (f32[8,4])".
  std::vector<std::string> flags;
  // The flags that are of the function's own results.
  std::vector<size_t> results;
};

// Adds the result i1[flags]: true where every element was finite. Calls are opened up; of a loop,
// what it gives is looked at, under the loop's line. Constants (masks of -inf) are left out.
FiniteChecks add_finite_checks(Function& function,
                               const std::function<bool(const Node&)>& use_kernel);

}  // namespace hum::graph
