// Accumulates cotangents during a backward pass, one sum per value, and tracks their placement.
//
// On a mesh axis where the value is sharded, its cotangent is sharded; where it is a partial sum,
// its cotangent is replicated. Where it is replicated, two kinds arrive: replicated cotangents and,
// from uses next to sharded or partial operands, partial sums. The two are summed separately; the
// partial sum is all-reduced once, when the full value is needed.
// partial ones is all-reduced once, when it is needed whole.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "graph/value.h"

namespace hum::graph {

class CotangentSums {
 public:
  // Adds a contribution to the cotangent of `value`. Throws if its shape or placement does not
  // match.
  void add(const Value& value, const Value& contribution);
  // The sum so far, placed as described above; empty if nothing was added.
  Value of(const Value& value);
  // Same, but returns a partial sum without reducing it if there is no replicated part.
  Value partial_of(const Value& value);

 private:
  // Bit `axis` of the index is set if the sum is partial on that mesh axis.
  using Sums = std::array<Value, 1 << kAxisCount>;
  std::map<std::pair<const Node*, int>, Sums> sums_;
};

}  // namespace hum::graph
