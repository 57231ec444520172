// Stable sorting along one dim, and ops built on it.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

struct SortOptions {
  // Largest first.
  bool descending = false;
};

// Reorders all values the same way along dim, so that the first is ascending (or descending). Equal
// elements keep their order; for floats, -0 sorts before 0 and NaN after all others. Gradients are
// returned in the original order.
// Shapes: all equal.
Values sort(const Values& values, int64_t dim, SortOptions options = {},
            std::source_location where = std::source_location::current());

// For each position of the sorted x, the index (i32) of its element along dim.
Value argsort(const Value& x, int64_t dim, SortOptions options = {},
              std::source_location where = std::source_location::current());

struct TopK {
  Value values, indices;
};
// The k largest elements of the last dim in descending order, and their indices (i32). Of equal
// elements the first comes first.
// Shapes: x [..., n] -> two of [..., k].
TopK top_k(const Value& x, int64_t k, std::source_location where = std::source_location::current());

}  // namespace hum::graph
