// Collectives: communication between devices, each converting one placement into another
// (graph/placement.h). Each works along a single mesh axis and is the identity if that axis has one
// device.
//
// Their gradients are also collectives: all_gather <-> reduce_scatter, shard <-> all_gather, sum
// all_reduce <-> nothing. Autodiff inserts the all-reduces of cotangents that it needs.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::graph {

enum class Reduction { kSum, kMax };

// kSum: partial sums -> their sum, replicated. kMax: values that differ between devices (dimless
// shards, e.g. a reduce_max over a sharded dim) -> their maximum, replicated; has no gradient.
Value all_reduce(const Value& x, Axis axis, Reduction reduction = Reduction::kSum,
                 std::source_location where = std::source_location::current());

// Shards along `dim` -> the full value, replicated.
// Shapes: [..., n, ...] -> [..., n devices, ...].
Value all_gather(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Partial sums -> each device's part of the sum, sharded along `dim`.
// Shapes: [..., n, ...] -> [..., n / devices, ...].
Value reduce_scatter(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                     std::source_location where = std::source_location::current());

// Sharded along concat_dim -> sharded along split_dim.
Value all_to_all(const Value& x, Axis axis, int64_t split_dim, int64_t concat_dim, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Sends each device's shard to the device `shift` places further along the axis, in a ring. The
// placement does not change although the shards move: ring algorithms must track them.
Value collective_permute(const Value& x, Axis axis, int64_t shift,
                         std::source_location where = std::source_location::current());

// Replicated -> each device keeps its part along `dim`; nothing is sent. replica_id: an i32 scalar
// program input that differs between devices.
Value shard(const Value& x, Axis axis, int64_t dim, const Mesh& mesh, const Value& replica_id,
            std::source_location where = std::source_location::current());

// Partial sums (gradients of each device's mean loss) -> their mean, replicated.
Values mean_over(const Values& values, Axis axis, const Mesh& mesh,
                 std::source_location where = std::source_location::current());

// Throws unless the gradient has the placement of the parameter it updates.
void require_same_placement(const Value& gradient, const Value& parameter,
                            std::source_location where = std::source_location::current());

}  // namespace hum::graph
