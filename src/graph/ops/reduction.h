// Reductions over dims, and ops built on them: means, softmax, argmax, cumulative sums.
//
// dims may count from the end. keepdims keeps each reduced dim with size 1, so that the result
// broadcasts against x. Sums and products of bf16 are computed in f32 and rounded once; softmax and
// related ops compute in f32 and return x's type.
//
// Placement: over a sharded dim, sums (and means, of each device's part) become partial sums; other
// reductions become dimless shards, for an all_reduce with the same operation.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

#define HUM_DECLARE_REDUCTION(function)                            \
  Value function(const Value& x, Dims dims, bool keepdims = false, \
                 std::source_location where = std::source_location::current());
HUM_DECLARE_REDUCTION(reduce_sum)
HUM_DECLARE_REDUCTION(reduce_max)
HUM_DECLARE_REDUCTION(reduce_min)
HUM_DECLARE_REDUCTION(reduce_prod)
// Booleans (i1).
HUM_DECLARE_REDUCTION(reduce_and)
HUM_DECLARE_REDUCTION(reduce_or)
// Floats.
HUM_DECLARE_REDUCTION(mean)
// Mean squared deviation from the mean (divided by the count, not the count - 1).
HUM_DECLARE_REDUCTION(variance)
// log(sum(exp(x))), without overflow.
HUM_DECLARE_REDUCTION(logsumexp)
#undef HUM_DECLARE_REDUCTION

inline Value sum(const Value& x, Dims dims, bool keepdims = false,
                 std::source_location where = std::source_location::current()) {
  return reduce_sum(x, std::move(dims), keepdims, where);
}

// Over all dims; the result is a scalar.
Value sum_all(const Value& x, std::source_location where = std::source_location::current());
Value mean_all(const Value& x, std::source_location where = std::source_location::current());

// Index (i32) of the first largest element along dim, which is removed. No gradient.
Value argmax(const Value& x, int64_t dim, bool keepdims = false,
             std::source_location where = std::source_location::current());
Value argmin(const Value& x, int64_t dim, bool keepdims = false,
             std::source_location where = std::source_location::current());

Value softmax(const Value& x, int64_t dim,
              std::source_location where = std::source_location::current());
Value log_softmax(const Value& x, int64_t dim,
                  std::source_location where = std::source_location::current());

// The logit of each position's label, in f32. Shapes: logits [..., V], labels (i32) [...] -> [...].
Value label_logits(const Value& logits, const Value& labels,
                   std::source_location where = std::source_location::current());
// -log softmax(logits)[label] for each position, in f32.
// Shapes: logits [..., V], labels (i32) [...] -> [...].
Value softmax_cross_entropy(const Value& logits, const Value& labels,
                            std::source_location where = std::source_location::current());

// Element i is the sum of elements 0..i along dim. Floats must be finite: they are computed with
// matrix products, where one infinity turns its whole row into NaNs.
Value cumulative_sum(const Value& x, int64_t dim,
                     std::source_location where = std::source_location::current());

}  // namespace hum::graph
