// Ops that move, slice and join elements without arithmetic. Dims may count from the end.
#pragma once

#include <initializer_list>
#include <source_location>
#include <span>

#include "graph/value.h"

namespace hum::graph {

// The same elements in row-major order with other dims.
Value reshape(const Value& x, Dims dims,
              std::source_location where = std::source_location::current());
// Removes the given dims, each of size 1.
Value squeeze(const Value& x, Dims dims,
              std::source_location where = std::source_location::current());
// Inserts a new dim of size 1 as dim `dim` of the result.
Value expand_dims(const Value& x, int64_t dim,
                  std::source_location where = std::source_location::current());

// Result dim i is dim permutation[i] of x.
Value transpose(const Value& x, Dims permutation,
                std::source_location where = std::source_location::current());
Value swap_dims(const Value& x, int64_t a, int64_t b,
                std::source_location where = std::source_location::current());
// Reverses the elements along `dims`.
Value reverse(const Value& x, Dims dims,
              std::source_location where = std::source_location::current());

// Joins the values along `dim`; their other dims must be equal.
Value concatenate(const Values& values, int64_t dim,
                  std::source_location where = std::source_location::current());
inline Value concat(const Values& values, int64_t dim,
                    std::source_location where = std::source_location::current()) {
  return concatenate(values, dim, where);
}
// Joins equal shapes along a new dim `dim`.
Value stack(const Values& values, int64_t dim,
            std::source_location where = std::source_location::current());

// Elements starts[d], starts[d] + strides[d], ... below limits[d] of every dim d; must not be
// empty. strides default to 1.
Value slice(const Value& x, Dims starts, Dims limits, Dims strides = {},
            std::source_location where = std::source_location::current());
// Slices one dim; the others are kept whole. start and limit may count from the end.
Value slice_in_dim(const Value& x, int64_t dim, int64_t start, int64_t limit, int64_t stride = 1,
                   std::source_location where = std::source_location::current());
// Splits into pieces of the given sizes along `dim`, which must add up to its size.
Values split(const Value& x, std::span<const int64_t> sizes, int64_t dim,
             std::source_location where = std::source_location::current());
// Splits into `parts` pieces of equal size.
Values split(const Value& x, int64_t parts, int64_t dim,
             std::source_location where = std::source_location::current());

// Adds `value` (a scalar of x's type, or a number) around the elements of x: low[d] before and
// high[d] after dim d, interior[d] between neighbours. Negative low and high crop. interior
// defaults to 0.
Value pad(const Value& x, const Value& value, Dims low, Dims high, Dims interior = {},
          std::source_location where = std::source_location::current());
Value pad(const Value& x, double value, Dims low, Dims high, Dims interior = {},
          std::source_location where = std::source_location::current());
// Pads one dim.
Value pad_in_dim(const Value& x, double value, int64_t dim, int64_t low, int64_t high,
                 std::source_location where = std::source_location::current());

}  // namespace hum::graph
