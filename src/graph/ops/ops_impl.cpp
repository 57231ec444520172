#include "graph/ops/ops_impl.h"

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/table.h"

namespace hum::graph {

ErrorContext building(std::string_view op, Values inputs, std::source_location where) {
  return ErrorContext([op, inputs = std::move(inputs), where] {
    std::string shapes;
    for (const Value& input : inputs) {
      shapes += (shapes.empty() ? "" : ", ") + (input ? input.shape().to_string() : "number");
    }
    const std::string_view file = where.file_name();
    return fmt::format("building {}({}) at {}:{}", op, shapes, file.substr(file.rfind('/') + 1),
                       where.line());
  });
}

Dims resolve_dims(std::string_view op, const Value& x, Dims dims, std::source_location where) {
  const ErrorContext context = building(op, {x}, where);
  for (int64_t& dim : dims) {
    const Shape& shape = x.shape();
    HUM_REQUIRE(dim >= -shape.rank() && dim < shape.rank(), "{}: dim {} is out of range for {}", op,
                dim, shape);
    if (dim < 0) dim += shape.rank();
  }
  std::ranges::sort(dims);
  HUM_REQUIRE(std::ranges::adjacent_find(dims) == dims.end(), "{}: a dim appears twice in [{}]", op,
              fmt::join(dims, ","));
  return dims;
}

int64_t resolve_dim(std::string_view op, const Value& x, int64_t dim, std::source_location where) {
  return resolve_dims(op, x, {dim}, where)[0];
}

bool contains(const Dims& dims, int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

Dims other_dims(int rank, const Dims& dims) {
  Dims others;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!contains(dims, dim)) others.push_back(dim);
  }
  return others;
}

Dims pick(const Dims& sizes, const Dims& dims) {
  Dims picked;
  for (const int64_t dim : dims) picked.push_back(sizes[static_cast<size_t>(dim)]);
  return picked;
}

int64_t element_count(const Dims& sizes, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= sizes[static_cast<size_t>(dim)];
  return count;
}

bool is_zero(const Value& value) {
  const Node* node = &value.node();
  while (&node->op() == &kBroadcastInDimOp || &node->op() == &kReshapeOp ||
         &node->op() == &kConvertOp) {
    node = &node->input(0).node();
  }
  if (&node->op() != &kConstantOp) return false;
  const auto& bytes = *node->attributes().get<Bytes>("value");
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Placement map_shards(const Placement& placement, const std::function<AxisPlacement(int dim)>& map) {
  Placement mapped = placement;
  for (AxisPlacement& axis : mapped.axes) {
    if (axis.kind == PlacementKind::kSharded && axis.dim != AxisPlacement::kNoDim) {
      axis = map(axis.dim);
    }
  }
  return mapped;
}

void require_uncut(std::string_view op, const Value& x, const Dims& dims, std::string_view reason) {
  for (const AxisPlacement& axis : x.placement().axes) {
    if (axis.kind != PlacementKind::kSharded || !contains(dims, axis.dim)) continue;
    fail(ExitCode::kFailure,
         fmt::format("{}: {} is placed {}: dim {} is sharded, {}", op, x.shape(), x.placement(),
                     axis.dim, reason),
         "all_gather it first");
  }
}

}  // namespace hum::graph
