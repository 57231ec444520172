// Shared by the op families: dim arithmetic, checks before a node exists, and helpers for placement
// rules.
#pragma once

#include <functional>
#include <source_location>
#include <string_view>

#include "base/error.h"
#include "graph/value.h"

namespace hum::graph {

// Adds "building <op>(<shapes>) at <file:line>" to errors thrown in its scope, for checks made
// before the node exists.
[[nodiscard]] ErrorContext building(std::string_view op, Values inputs, std::source_location where);

// Converts a dim that counts from the end to a non-negative one; throws naming `op` and the
// caller's line.
int64_t resolve_dim(std::string_view op, const Value& x, int64_t dim, std::source_location where);
// Same for several dims, sorted; throws if a dim appears twice.
Dims resolve_dims(std::string_view op, const Value& x, Dims dims, std::source_location where);
// 0..rank-1 without `dims`.
Dims other_dims(int rank, const Dims& dims);
// sizes[i] for each i of `dims`.
Dims pick(const Dims& sizes, const Dims& dims);
bool contains(const Dims& dims, int64_t dim);
// Product of the sizes of `dims`.
int64_t element_count(const Dims& sizes, const Dims& dims);

// Whether the value is zero by construction: a constant zero, possibly broadcast or reshaped.
bool is_zero(const Value& value);

// The placement with every sharded dim d replaced by map(d); replicated, partial and dimless shards
// do not change.
Placement map_shards(const Placement& placement, const std::function<AxisPlacement(int dim)>& map);
// Throws if a mesh axis shards `x` in one of `dims`: "<op>: ... <reason>".
void require_uncut(std::string_view op, const Value& x, const Dims& dims, std::string_view reason);

}  // namespace hum::graph
