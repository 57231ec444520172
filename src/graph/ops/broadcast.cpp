// broadcast_in_dim: repeats elements; its gradient sums over the copies.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/reduction.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

Shapes infer_broadcast(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Dims& dims = node.attributes().get<Dims>("dims");
  const Dims& map = node.attributes().get<Dims>("dims_map");
  HUM_REQUIRE(static_cast<int>(map.size()) == from.rank(),
              "broadcast_in_dim: {} has {} dims, the map has {}", from, from.rank(), map.size());
  for (size_t i = 0; i < map.size(); ++i) {
    HUM_REQUIRE(map[i] >= 0 && map[i] < static_cast<int64_t>(dims.size()) &&
                    (i == 0 || map[i] > map[i - 1]),
                "broadcast_in_dim: map [{}] must rise and stay inside the result",
                fmt::join(map, ","));
    const int64_t to = dims[static_cast<size_t>(map[i])];
    HUM_REQUIRE(from.dims[i] == to || from.dims[i] == 1,
                "broadcast_in_dim: dim {} of {} does not fit size {} of [{}]", i, from, to,
                fmt::join(dims, ","));
  }
  return {{from.dtype, dims}};
}

Value simplify_broadcast(const Node& node, const Values& in) {
  const Dims& dims = node.shapes()[0].dims;
  if (in[0].dims() == dims) return in[0];
  const Node& inner = in[0].node();
  if (&inner.op() != &kBroadcastInDimOp) return {};
  const Dims& outer = node.attributes().get<Dims>("dims_map");
  Dims map = inner.attributes().get<Dims>("dims_map");
  for (int64_t& dim : map) dim = outer[static_cast<size_t>(dim)];
  return broadcast_in_dim(inner.input(0), dims, map, node.where());
}

// A sharded dim keeps its size: repeating each device's part does not repeat the whole.
std::vector<Placement> place_broadcast(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Dims& map = node.attributes().get<Dims>("dims_map");
  return {map_shards(node.input(0).placement(), [&](int cut) {
    const auto to = static_cast<int>(map[static_cast<size_t>(cut)]);
    HUM_REQUIRE(from.size(cut) == node.shapes()[0].size(to),
                "broadcast_in_dim: {} sharded in dim {} cannot be repeated along it", from, cut);
    return sharded(to);
  })};
}

Values broadcast_vjp(const Node& node, Cotangents cotangents) {
  const Shape& from = node.input(0).shape();
  const Dims& to = node.attributes().get<Dims>("dims");
  const Dims& map = node.attributes().get<Dims>("dims_map");
  Dims summed;
  for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
    const auto found = std::ranges::find(map, dim);
    const bool repeated =
        found == map.end() ||
        from.dims[static_cast<size_t>(found - map.begin())] != to[static_cast<size_t>(dim)];
    if (repeated) summed.push_back(dim);
  }
  return {reshape(reduce_sum(cotangents[0], summed), from.dims)};
}

void print_broadcast(Printer& out, const Node& node) {
  const Value& x = node.input(0);
  out.define(node, fmt::format("stablehlo.broadcast_in_dim {}, dims = {} : ({}) -> {}",
                               out.operand(x), list_text(node.attributes().get<Dims>("dims_map")),
                               type_text(x.shape()), type_text(node.shapes()[0])));
}

}  // namespace

const OpDef kBroadcastInDimOp = {"broadcast_in_dim",
                                 infer_broadcast,
                                 place_broadcast,
                                 broadcast_vjp,
                                 print_broadcast,
                                 data_movement_cost,
                                 {.memory = MemoryClass::kCheap,
                                  .elementwise = false,
                                  .takes_partial_cotangents = true,
                                  .simplify = simplify_broadcast}};
Value broadcast_in_dim(const Value& x, Dims dims, Dims dims_map, std::source_location where) {
  if (x.dims() == dims) return x;
  return NodeBuilder{.op = kBroadcastInDimOp,
                     .inputs = {x},
                     .attributes = {{"dims", std::move(dims)}, {"dims_map", std::move(dims_map)}},
                     .where = where}
      .value();
}

Value broadcast_to(const Value& x, const Dims& dims, std::source_location where) {
  const ErrorContext context = building("broadcast_to", {x}, where);
  const auto extra = static_cast<int64_t>(dims.size()) - x.rank();
  HUM_REQUIRE(extra >= 0, "broadcast_to: {} has more dims than [{}]", x.shape(),
              fmt::join(dims, ","));
  Dims map(static_cast<size_t>(x.rank()));
  std::iota(map.begin(), map.end(), extra);
  return broadcast_in_dim(x, dims, std::move(map), where);
}

}  // namespace hum::graph
