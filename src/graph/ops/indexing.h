// Selects slices by index, and windows with starts known only at run time.
//
// Indices are i32 or u32 and must be within bounds. Platforms differ for other indices: CPU and GPU
// clamp when reading and drop when writing, Neuron stops.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// Returns the slices of `table` along `dim` selected by `ids`: an embedding lookup if dim is 0.
// Shapes: table [..., n, ...], ids [a, b] -> [..., a, b, ...].
Value take(const Value& table, const Value& ids, int64_t dim = 0,
           std::source_location where = std::source_location::current());

// Adds every slice of `updates` to x at its id along `dim`; slices with equal ids are summed. bf16
// sums are computed in f32.
// Shapes: x [..., n, ...], ids [a, b], updates [..., a, b, ...] -> x's.
Value scatter_add(const Value& x, const Value& ids, const Value& updates, int64_t dim = 0,
                  std::source_location where = std::source_location::current());

// out[..., j, ...] = x[..., ids[..., j, ...], ...]: one id per element of the result; the other
// dims of ids equal x's.
Value take_along_dim(const Value& x, const Value& ids, int64_t dim,
                     std::source_location where = std::source_location::current());

// 1 where the index in the new last dim equals the id, else 0. Ids outside 0..depth-1 give zeros.
Value one_hot(const Value& ids, int64_t depth, DType dtype = DType::kF32,
              std::source_location where = std::source_location::current());

// The window of `sizes` whose first element is at `starts` (one scalar i32 or u32 per dim). A
// window that extends outside x is shifted inside.
Value dynamic_slice(const Value& x, Values starts, Dims sizes,
                    std::source_location where = std::source_location::current());
// x with that window replaced by `update`.
Value dynamic_update_slice(const Value& x, const Value& update, Values starts,
                           std::source_location where = std::source_location::current());
// Same along one dim; the other dims are taken whole.
Value dynamic_slice_in_dim(const Value& x, const Value& start, int64_t size, int64_t dim,
                           std::source_location where = std::source_location::current());
Value dynamic_update_slice_in_dim(const Value& x, const Value& update, const Value& start,
                                  int64_t dim,
                                  std::source_location where = std::source_location::current());

}  // namespace hum::graph
