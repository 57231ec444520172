#include "graph/ops/collectives.h"

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/table.h"

namespace hum::graph {
namespace {

NodeBuilder along(const OpDef& op, const Value& x, Axis axis, std::source_location where) {
  return {.op = op,
          .inputs = {x},
          .attributes = {{"axis", static_cast<int64_t>(axis)}},
          .where = where};
}

}  // namespace

Value all_reduce(const Value& x, Axis axis, Reduction reduction, std::source_location where) {
  NodeBuilder builder = along(kAllReduceOp, x, axis, where);
  builder.attributes.set("sum", int64_t{reduction == Reduction::kSum});
  return std::move(builder).value();
}

Value all_gather(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                 std::source_location where) {
  NodeBuilder builder = along(kAllGatherOp, x, axis, where);
  builder.attributes.set("dim", resolve_dim("all_gather", x, dim, where));
  builder.attributes.set("devices", int64_t{mesh.size(axis)});
  return std::move(builder).value();
}

Value reduce_scatter(const Value& x, Axis axis, int64_t dim, const Mesh& mesh,
                     std::source_location where) {
  NodeBuilder builder = along(kReduceScatterOp, x, axis, where);
  builder.attributes.set("dim", resolve_dim("reduce_scatter", x, dim, where));
  builder.attributes.set("devices", int64_t{mesh.size(axis)});
  return std::move(builder).value();
}

Value all_to_all(const Value& x, Axis axis, int64_t split_dim, int64_t concat_dim, const Mesh& mesh,
                 std::source_location where) {
  NodeBuilder builder = along(kAllToAllOp, x, axis, where);
  builder.attributes.set("split_dim", resolve_dim("all_to_all", x, split_dim, where));
  builder.attributes.set("concat_dim", resolve_dim("all_to_all", x, concat_dim, where));
  builder.attributes.set("devices", int64_t{mesh.size(axis)});
  return std::move(builder).value();
}

Value collective_permute(const Value& x, Axis axis, int64_t shift, std::source_location where) {
  NodeBuilder builder = along(kCollectivePermuteOp, x, axis, where);
  builder.attributes.set("shift", shift);
  return std::move(builder).value();
}

Value shard(const Value& x, Axis axis, int64_t dim, const Mesh& mesh, const Value& replica_id,
            std::source_location where) {
  NodeBuilder builder = along(kShardOp, x, axis, where);
  builder.inputs.push_back(replica_id);
  builder.attributes.set("dim", resolve_dim("shard", x, dim, where));
  builder.attributes.set("devices", int64_t{mesh.size(axis)});
  return std::move(builder).value();
}

Values mean_over(const Values& values, Axis axis, const Mesh& mesh, std::source_location where) {
  Values means;
  for (const Value& value : values) {
    means.push_back(all_reduce(value, axis, Reduction::kSum, where) * (1.0 / mesh.size(axis)));
  }
  return means;
}

void require_same_placement(const Value& gradient, const Value& parameter,
                            std::source_location where) {
  const ErrorContext context = building("update", {gradient, parameter}, where);
  if (gradient.placement() == parameter.placement()) return;
  fail(ExitCode::kFailure,
       fmt::format("the gradient {} is placed {}, its parameter {}", gradient.shape(),
                   gradient.placement(), parameter.placement()),
       "all_reduce (mean_over) or reduce_scatter the gradient first");
}

}  // namespace hum::graph
