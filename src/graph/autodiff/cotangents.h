// Sums of cotangents during a backward pass, one per value, and how they are placed on the mesh.
//
// On a mesh axis where the value is cut, its cotangent is cut; where it is a partial sum, its
// cotangent is replicated. Where it is replicated, two things arrive: replicated cotangents, and,
// from uses beside cut or partial operands, partial sums. They are added up apart; the sum of all
// partial ones is all-reduced once, when it is needed whole.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "graph/value.h"

namespace hum::graph {

class CotangentSums {
 public:
  // Adds a use's contribution to the cotangent of `value`. Throws when shape or placement does not
  // fit.
  void add(const Value& value, const Value& contribution);
  // The whole sum so far, placed as above; empty when nothing was added.
  Value of(const Value& value);
  // The same, but left a partial sum where it is one and nothing else.
  Value partial_of(const Value& value);

 private:
  // Bit `axis` of the index: partial on that mesh axis.
  using Sums = std::array<Value, 1 << kAxisCount>;
  std::map<std::pair<const Node*, int>, Sums> sums_;
};

}  // namespace hum::graph
