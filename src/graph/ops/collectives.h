// What devices tell each other, and the placements these ops turn into one another (graph/
// placement.h). Every one works along a single mesh axis; where that axis has one device, it is
// the identity.
//
// Their gradients are collectives too: all_gather <-> reduce_scatter, shard <-> all_gather, a sum
// all_reduce <-> nothing. All-reduces of cotangents that autodiff needs are placed by autodiff.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

enum class Reduction { kSum, kMax };

// kSum: partial sums -> their sum, replicated. kMax: values that differ between devices (dimless
// shards, e.g. a reduce_max over a cut dim) -> their maximum, replicated; without gradient.
Value all_reduce(const Value& x, Axis axis, Reduction reduction = Reduction::kSum,
                 std::source_location where = std::source_location::current());

// Shards along `dim` -> the whole, replicated.
// Shapes: [..., n, ...] -> [..., n devices, ...].
Value all_gather(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Partial sums -> each device its part of the sum, cut along `dim`.
// Shapes: [..., n, ...] -> [..., n / devices, ...].
Value reduce_scatter(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                     std::source_location where = std::source_location::current());

// Cut along concat_dim -> cut along split_dim.
Value all_to_all(const Value& x, Axis axis, int64_t split_dim, int64_t concat_dim, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Every device hands its shard to the one `shift` places further along the axis, round the ring.
// The placement stays, although shards now stand elsewhere: ring algorithms keep count themselves.
Value collective_permute(const Value& x, Axis axis, int64_t shift,
                         std::source_location where = std::source_location::current());

// Replicated -> each device keeps its part along `dim`; nothing is sent. replica_id: i32 scalar, an
// input of the program that differs between devices.
Value shard(const Value& x, Axis axis, int64_t dim, const Mesh& mesh, const Value& replica_id,
            std::source_location where = std::source_location::current());

// Partial sums (gradients of each device's mean loss) -> their mean, replicated.
Values mean_over(const Values& values, Axis axis, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Throws unless the gradient is placed as the parameter it will change.
void require_same_placement(const Value& gradient, const Value& parameter,
                            std::source_location where = std::source_location::current());

}  // namespace hum::graph
