// Rows chosen by index, and windows at places known only when the program runs.
//
// Indices are i32 or u32 and must lie inside the dim: platforms differ in what they do with others
// (CPU and GPU clamp when reading and drop when writing, Neuron stops).
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

// The slices of `table` along `dim` named by `ids`: an embedding lookup when dim is 0.
// Shapes: table [..., n, ...], ids [a, b] -> [..., a, b, ...].
Value take(const Value& table, const Value& ids, int64_t dim = 0,
           std::source_location where = std::source_location::current());

// x plus every slice of `updates` at its id along `dim`; equal ids add up. bf16 sums are made in
// f32.
// Shapes: x [..., n, ...], ids [a, b], updates [..., a, b, ...] -> x's.
Value scatter_add(const Value& x, const Value& ids, const Value& updates, int64_t dim = 0,
                  std::source_location where = std::source_location::current());

// out[..., j, ...] = x[..., ids[..., j, ...], ...]: one id per element of the result, ids's other
// dims equal x's.
Value take_along_dim(const Value& x, const Value& ids, int64_t dim,
                     std::source_location where = std::source_location::current());

// 1 where the new last dim's index equals the id, else 0. Ids outside 0..depth-1 give zeros.
Value one_hot(const Value& ids, int64_t depth, DType dtype = DType::kF32,
              std::source_location where = std::source_location::current());

// The window of `sizes` whose first element is at `starts` (one scalar i32 or u32 per dim). A
// window that would leave x is moved inside.
Value dynamic_slice(const Value& x, Values starts, Dims sizes,
                    std::source_location where = std::source_location::current());
// x with that window replaced by `update`.
Value dynamic_update_slice(const Value& x, const Value& update, Values starts,
                           std::source_location where = std::source_location::current());
// The same along one dim, the others whole.
Value dynamic_slice_in_dim(const Value& x, const Value& start, int64_t size, int64_t dim,
                           std::source_location where = std::source_location::current());
Value dynamic_update_slice_in_dim(const Value& x, const Value& update, const Value& start,
                                  int64_t dim,
                                  std::source_location where = std::source_location::current());

}  // namespace hum::graph
