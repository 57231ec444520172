// Sorting along one dim, always stable, and what is made of it.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

struct SortOptions {
  // Largest first.
  bool descending = false;
};

// All values rearranged alike along dim, so that the first rises (or falls); equal elements keep
// their order, and of floats -0 comes before 0 and NaN after all others. Gradients go back the way
// the elements came.
// Shapes: all equal.
Values sort(const Values& values, int64_t dim, SortOptions options = {},
            std::source_location where = std::source_location::current());

// Which element (i32) of dim comes at each place of the sorted x.
Value argsort(const Value& x, int64_t dim, SortOptions options = {},
              std::source_location where = std::source_location::current());

struct TopK {
  Value values, indices;
};
// The k largest elements of the last dim, falling, and where they stood (i32). Of equal ones the
// first comes first.
// Shapes: x [..., n] -> two of [..., k].
TopK top_k(const Value& x, int64_t k, std::source_location where = std::source_location::current());

}  // namespace hum::graph
