// The collectives' rows, in replica mode: explicit replica groups, no partitioner. The functions
// are in collectives.cpp.
#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/collectives.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/place_as.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

Axis axis_of(const Node& node) { return static_cast<Axis>(node.attributes().get<int64_t>("axis")); }
int64_t number(const Node& node, const char* name) { return node.attributes().get<int64_t>(name); }
int dim_of(const Node& node, const char* name = "dim") {
  return static_cast<int>(number(node, name));
}
std::string_view axis_name(Axis axis) { return axis == Axis::kData ? "data" : "tensor"; }

// The input's placement with `to` on the node's axis; throws unless it is `from` now.
Placement moved(const Node& node, const AxisPlacement& from, const AxisPlacement& to,
                std::string_view wanted) {
  Placement placement = node.input(0).placement();
  HUM_REQUIRE(placement[axis_of(node)] == from, "{} over the {} axis: {} is placed {}, not {}",
              node.op().name, axis_name(axis_of(node)), node.input(0).shape(), placement, wanted);
  placement[axis_of(node)] = to;
  return placement;
}

// At most one axis may shard a dim.
void require_uncut_elsewhere(const Node& node, int dim) {
  for (const AxisPlacement& axis : node.input(0).placement().axes) {
    HUM_REQUIRE(axis != sharded(dim), "{}: dim {} of {} is already sharded ({})", node.op().name,
                dim, node.input(0).shape(), node.input(0).placement());
  }
}

Shape scaled(const Node& node, int dim, int64_t times, int64_t parts) {
  Shape result = node.input(0).shape();
  int64_t& size = result.dims[static_cast<size_t>(dim)];
  HUM_REQUIRE(size % parts == 0, "{}: dim {} of {} does not split into {} parts", node.op().name,
              dim, node.input(0).shape(), parts);
  size = size / parts * times;
  return result;
}

std::string groups_text(const Mesh& mesh, Axis axis) {
  std::string text;
  const auto groups = mesh.groups(axis);
  for (const auto& group : groups) {
    text += (text.empty() ? "" : ", ") + list_text(group);
  }
  return fmt::format("replica_groups = dense<[{}]> : tensor<{}x{}xi64>", text, groups.size(),
                     groups[0].size());
}

std::string reducer_text(std::string_view op, DType dtype) {
  const std::string scalar = type_text({dtype, {}});
  return fmt::format(
      "({{ ^bb0(%reduce_a: {0}, %reduce_b: {0}): %reduce_c = stablehlo.{1} %reduce_a, %reduce_b : "
      "{0} stablehlo.return %reduce_c : {0} }})",
      scalar, op);
}

// Writes the op, or nothing if the axis has one device.
void define_collective(Printer& out, const Node& node, const std::string& region,
                       const std::string& attributes) {
  const int devices = out.mesh().size(axis_of(node));
  const bool sized = node.attributes().contains("devices");
  HUM_REQUIRE(!sized || number(node, "devices") == devices,
              "{} (made at {}) is for {} devices, the function's mesh has {}", node.op().name,
              node.where_string(), number(node, "devices"), devices);
  if (devices == 1) return out.alias(node.output(), out.operand(node.input(0)));
  out.define(node, fmt::format("\"stablehlo.{}\"({}) {} {{{}}} : ({}) -> {}", node.op().name,
                               out.operand(node.input(0)), region, attributes,
                               type_text(node.input(0).shape()), type_text(node.shapes()[0])));
}

void require_number(const Node& node) {
  const Shape& shape = node.input(0).shape();
  HUM_REQUIRE(shape.dtype != DType::kI1, "{}: needs numbers, not {}", node.op().name, shape);
}

// all_reduce
bool is_sum(const Node& node) { return number(node, "sum") != 0; }

Shapes infer_all_reduce(const Node& node) {
  require_number(node);
  return {node.input(0).shape()};
}

std::vector<Placement> place_all_reduce(const Node& node) {
  if (is_sum(node)) return {moved(node, kPartial, kReplicated, "a partial sum")};
  for (const AxisPlacement& axis : node.input(0).placement().axes) {
    HUM_REQUIRE(axis != kPartial, "all_reduce: the maximum of partial sums ({}) is undefined",
                node.input(0).placement());
  }
  return {moved(node, sharded(AxisPlacement::kNoDim), kReplicated, "a dimless shard")};
}

Values all_reduce_vjp(const Node& node, Cotangents cotangents) {
  HUM_REQUIRE(is_sum(node),
              "all_reduce: the maximum (made at {}) has no gradient; stop_gradient it first",
              node.where_string());
  return {cotangents[0]};
}

void print_all_reduce(Printer& out, const Node& node) {
  define_collective(out, node,
                    reducer_text(is_sum(node) ? "add" : "maximum", node.input(0).dtype()),
                    groups_text(out.mesh(), axis_of(node)));
}

// all_gather
Shapes infer_all_gather(const Node& node) {
  return {scaled(node, dim_of(node), number(node, "devices"), 1)};
}

std::vector<Placement> place_all_gather(const Node& node) {
  const int dim = dim_of(node);
  return {moved(node, sharded(dim), kReplicated, fmt::format("sharded in dim {}", dim))};
}

Mesh mesh_along(const Node& node) {
  const auto devices = static_cast<int>(number(node, "devices"));
  return axis_of(node) == Axis::kData ? Mesh{devices, 1} : Mesh{1, devices};
}

// A replicated cotangent is the sum of its n-th parts.
Values all_gather_vjp(const Node& node, Cotangents cotangents) {
  Value partial = cotangents[0];
  const Axis axis = axis_of(node);
  const Mesh mesh = mesh_along(node);
  if (partial.placement()[axis] == kReplicated) {
    Placement placement = partial.placement();
    placement[axis] = kPartial;
    partial = place_as(partial * (1.0 / mesh.size()), placement);
  }
  return {reduce_scatter(partial, axis, dim_of(node), mesh, node.where())};
}

void print_all_gather(Printer& out, const Node& node) {
  define_collective(out, node, "",
                    fmt::format("all_gather_dim = {} : i64, {}", dim_of(node),
                                groups_text(out.mesh(), axis_of(node))));
}

// reduce_scatter
Shapes infer_reduce_scatter(const Node& node) {
  require_number(node);
  return {scaled(node, dim_of(node), 1, number(node, "devices"))};
}

std::vector<Placement> place_reduce_scatter(const Node& node) {
  require_uncut_elsewhere(node, dim_of(node));
  return {moved(node, kPartial, sharded(dim_of(node)), "a partial sum")};
}

Values gather_back(const Node& node, Cotangents cotangents) {
  return {all_gather(cotangents[0], axis_of(node), dim_of(node), mesh_along(node), node.where())};
}

void print_reduce_scatter(Printer& out, const Node& node) {
  define_collective(out, node, reducer_text("add", node.input(0).dtype()),
                    fmt::format("scatter_dimension = {} : i64, {}", dim_of(node),
                                groups_text(out.mesh(), axis_of(node))));
}

// all_to_all
Shapes infer_all_to_all(const Node& node) {
  const int split = dim_of(node, "split_dim"), concat = dim_of(node, "concat_dim");
  const int64_t devices = number(node, "devices");
  Shape result = scaled(node, split, 1, devices);
  result.dims[static_cast<size_t>(concat)] *= devices;
  return {result};
}

std::vector<Placement> place_all_to_all(const Node& node) {
  const int split = dim_of(node, "split_dim"), concat = dim_of(node, "concat_dim");
  if (split != concat) require_uncut_elsewhere(node, split);
  return {moved(node, sharded(concat), sharded(split), fmt::format("sharded in dim {}", concat))};
}

Values all_to_all_vjp(const Node& node, Cotangents cotangents) {
  return {all_to_all(cotangents[0], axis_of(node), number(node, "concat_dim"),
                     number(node, "split_dim"), mesh_along(node), node.where())};
}

void print_all_to_all(Printer& out, const Node& node) {
  define_collective(
      out, node, "",
      fmt::format("split_dimension = {} : i64, concat_dimension = {} : i64, split_count = {} : "
                  "i64, {}",
                  number(node, "split_dim"), number(node, "concat_dim"), number(node, "devices"),
                  groups_text(out.mesh(), axis_of(node))));
}

// collective_permute
Shapes infer_permute(const Node& node) { return {node.input(0).shape()}; }

std::vector<Placement> place_permute(const Node& node) {
  const Placement& placement = node.input(0).placement();
  HUM_REQUIRE(placement[axis_of(node)].kind == PlacementKind::kSharded,
              "collective_permute over the {} axis: {} is placed {}, not sharded",
              axis_name(axis_of(node)), node.input(0).shape(), placement);
  return {placement};
}

Values permute_vjp(const Node& node, Cotangents cotangents) {
  return {collective_permute(cotangents[0], axis_of(node), -number(node, "shift"), node.where())};
}

void print_permute(Printer& out, const Node& node) {
  std::string pairs;
  int count = 0;
  for (const auto& group : out.mesh().groups(axis_of(node))) {
    const auto size = static_cast<int64_t>(group.size());
    for (int64_t i = 0; i < size; ++i, ++count) {
      const int64_t to = ((i + number(node, "shift")) % size + size) % size;
      pairs += fmt::format("{}[{}, {}]", pairs.empty() ? "" : ", ", group[static_cast<size_t>(i)],
                           group[static_cast<size_t>(to)]);
    }
  }
  define_collective(
      out, node, "",
      fmt::format("source_target_pairs = dense<[{}]> : tensor<{}x2xi64>", pairs, count));
}

// shard
Shapes infer_shard(const Node& node) {
  HUM_REQUIRE(node.input(1).shape() == (Shape{DType::kI32, {}}),
              "shard: the replica id is i32[], not {}", node.input(1).shape());
  return {scaled(node, dim_of(node), 1, number(node, "devices"))};
}

std::vector<Placement> place_shard(const Node& node) {
  require_uncut_elsewhere(node, dim_of(node));
  return {moved(node, kReplicated, sharded(dim_of(node)), "replicated")};
}

Values shard_vjp(const Node& node, Cotangents cotangents) {
  return {gather_back(node, cotangents)[0], Value()};
}

void print_shard(Printer& out, const Node& node) {
  const Mesh& mesh = out.mesh();
  const Value& x = node.input(0);
  HUM_REQUIRE(mesh.size(axis_of(node)) == number(node, "devices"),
              "shard (made at {}) is for {} devices, the function's mesh has {}",
              node.where_string(), number(node, "devices"), mesh.size(axis_of(node)));
  const auto scalar = [&](int64_t value) {
    return out.emit(fmt::format("stablehlo.constant dense<{}> : tensor<i32>", value));
  };
  const bool inner = axis_of(node) == Axis::kTensor;
  const std::string position =
      out.emit(fmt::format("stablehlo.{} {}, {} : tensor<i32>", inner ? "remainder" : "divide",
                           out.operand(node.input(1)), scalar(mesh.tensor)));
  const Shape& part = node.shapes()[0];
  const std::string start = out.emit(fmt::format("stablehlo.multiply {}, {} : tensor<i32>",
                                                 position, scalar(part.size(dim_of(node)))));
  const std::string zero = scalar(0);
  std::string starts, types;
  for (int d = 0; d < x.rank(); ++d) {
    starts += ", " + (d == dim_of(node) ? start : zero);
    types += ", tensor<i32>";
  }
  out.define(node, fmt::format("\"stablehlo.dynamic_slice\"({}{}) {{slice_sizes = {}}} : ({}{}) -> "
                               "{}",
                               out.operand(x), starts, array_text(part.dims), type_text(x.shape()),
                               types, type_text(part)));
}

}  // namespace

#define HUM_ROW(variable, text, infer, place, vjp, print, memory_class, ...) \
  const OpDef variable = {                                                   \
      text,                                                                  \
      infer,                                                                 \
      place,                                                                 \
      vjp,                                                                   \
      print,                                                                 \
      data_movement_cost,                                                    \
      {.memory = MemoryClass::memory_class, .elementwise = false __VA_OPT__(, ) __VA_ARGS__}};
HUM_ROW(kAllReduceOp, "all_reduce", infer_all_reduce, place_all_reduce, all_reduce_vjp,
        print_all_reduce, kCollective)
HUM_ROW(kAllGatherOp, "all_gather", infer_all_gather, place_all_gather, all_gather_vjp,
        print_all_gather, kCollective, .takes_partial_cotangents = true)
HUM_ROW(kReduceScatterOp, "reduce_scatter", infer_reduce_scatter, place_reduce_scatter, gather_back,
        print_reduce_scatter, kCollective)
HUM_ROW(kAllToAllOp, "all_to_all", infer_all_to_all, place_all_to_all, all_to_all_vjp,
        print_all_to_all, kCollective)
HUM_ROW(kCollectivePermuteOp, "collective_permute", infer_permute, place_permute, permute_vjp,
        print_permute, kCollective)
HUM_ROW(kShardOp, "shard", infer_shard, place_shard, shard_vjp, print_shard, kOpaque)
#undef HUM_ROW

}  // namespace hum::graph
