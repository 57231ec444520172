// A vector quantizer's search: products with a table and their maximum in one pass, without storing
// all scores.
//
// N vectors, E entries, D their size.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

// argmax over e of x[n] . table[e] - offsets[e]; the first on ties. With half the entries' squared
// norms as offsets, that is the nearest entry. Not differentiable. A vector with NaN gets an
// unspecified entry.
// Shapes: x f32[N,D], table f32[E,D], offsets f32[E] -> i32[N].
// Throws: other shapes.
graph::Value nearest_rows(const graph::Value& x_ND, const graph::Value& table_ED,
                          const graph::Value& offsets_E,
                          std::source_location where = std::source_location::current());

// The custom call, for kernels/table.cpp.
struct Kernel;
// (x f32[N,D], table f32[E,D], offsets f32[E]) -> i32[N]
extern const Kernel kNearestRowsKernel;

}  // namespace hum::kernels
