// Ops that only assert placements, for use by autodiff: they compute and send nothing.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// x with the given placement. The caller guarantees that it is correct.
Value place_as(const Value& x, const Placement& placement,
               std::source_location where = std::source_location::current());

// Zeros with any placement: a part of zeros is zeros, and so is a sum of zeros.
Value placed_zeros(const Shape& shape, const Placement& placement,
                   std::source_location where = std::source_location::current());

// The placement of the cotangent of a value with that placement: for partial sums, replicated.
Placement cotangent_placement(Placement placement);

}  // namespace hum::graph
