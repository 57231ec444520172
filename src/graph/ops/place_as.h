// Statements about placements that autodiff makes, for its own use: nothing is computed or sent.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// x, from now on taken to be placed so. The caller knows that it is true.
Value place_as(const Value& x, const Placement& placement,
               std::source_location where = std::source_location::current());

// Zeros under any placement: a part of zeros is zeros, and so is a sum of zeros.
Value placed_zeros(const Shape& shape, const Placement& placement,
                   std::source_location where = std::source_location::current());

// How the cotangent of a value with that placement is placed: partial sums have replicated ones.
Placement cotangent_placement(Placement placement);

}  // namespace hum::graph
