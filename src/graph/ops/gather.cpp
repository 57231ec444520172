// take and scatter_add (StableHLO's gather and scatter along one dim), and ops built on them.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

int dim_of(const Node& node) { return static_cast<int>(node.attributes().get<int64_t>("dim")); }

bool is_index(DType dtype) { return dtype == DType::kI32 || dtype == DType::kU32; }

// The table's dims, with `dim` replaced by those of ids.
Dims rows_dims(const Shape& table, const Shape& ids, int dim) {
  Dims dims(table.dims.begin(), table.dims.begin() + dim);
  dims.insert(dims.end(), ids.dims.begin(), ids.dims.end());
  dims.insert(dims.end(), table.dims.begin() + dim + 1, table.dims.end());
  return dims;
}

// Dims of the rows that are not dims of ids, and the table dims they correspond to.
Dims window_dims(int rank, int ids_rank, int dim) {
  Dims ids(static_cast<size_t>(ids_rank));
  std::iota(ids.begin(), ids.end(), dim);
  return other_dims(rank, ids);
}

Shapes infer_gather(const Node& node) {
  const Shape &table = node.input(0).shape(), &ids = node.input(1).shape();
  HUM_REQUIRE(is_index(ids.dtype), "gather: ids are {}, not i32 or ui32", ids);
  return {{table.dtype, rows_dims(table, ids, dim_of(node))}};
}

// The position of a table's sharded dim among the rows' dims.
AxisPlacement window_shard(int cut, int ids_rank, int dim) {
  return sharded(cut < dim ? cut : cut - 1 + ids_rank);
}

std::vector<Placement> place_gather(const Node& node) {
  const Value &table = node.input(0), &ids = node.input(1);
  const int dim = dim_of(node);
  require_uncut("gather", table, {dim}, "and an id may name a row of another device");
  Placement placed =
      map_shards(table.placement(), [&](int cut) { return window_shard(cut, ids.rank(), dim); });
  for (size_t axis = 0; axis < placed.axes.size(); ++axis) {
    AxisPlacement id = ids.placement().axes[axis];
    if (id == kReplicated) continue;
    HUM_REQUIRE(id.kind == PlacementKind::kSharded && placed.axes[axis] == kReplicated,
                "gather: table {} placed {} and ids {} placed {} are incompatible", table.shape(),
                table.placement(), ids.shape(), ids.placement());
    if (id.dim != AxisPlacement::kNoDim) id.dim += dim;
    placed.axes[axis] = id;
  }
  return {placed};
}

Values gather_vjp(const Node& node, Cotangents cotangents) {
  const Value &table = node.input(0), &ids = node.input(1);
  return {scatter_add(zeros_like(table), ids, cotangents[0], dim_of(node)), Value()};
}

void print_gather(Printer& out, const Node& node) {
  const Shape &table = node.input(0).shape(), &ids = node.input(1).shape();
  const int dim = dim_of(node);
  Dims sizes = table.dims;
  sizes[static_cast<size_t>(dim)] = 1;
  out.define_simple(
      node, fmt::format("dimension_numbers = #stablehlo.gather<offset_dims = {}, "
                        "collapsed_slice_dims = [{}], start_index_map = [{}], "
                        "index_vector_dim = {}>, slice_sizes = {}, indices_are_sorted = false",
                        list_text(window_dims(node.shapes()[0].rank(), ids.rank(), dim)), dim, dim,
                        ids.rank(), array_text(sizes)));
}

Cost gather_cost(const Node& node) {
  const auto rows = static_cast<double>(node.shapes()[0].bytes());
  return {0, 2 * rows + static_cast<double>(node.input(1).shape().bytes())};
}

Shapes infer_scatter(const Node& node) {
  const Shape &x = node.input(0).shape(), &ids = node.input(1).shape();
  const Shape& updates = node.input(2).shape();
  HUM_REQUIRE(is_index(ids.dtype), "scatter_add: ids are {}, not i32 or ui32", ids);
  HUM_REQUIRE(x.dtype != DType::kI1, "scatter_add: needs numbers, not {}", x);
  const Shape wanted{x.dtype, rows_dims(x, ids, dim_of(node))};
  HUM_REQUIRE(updates == wanted, "scatter_add: updates of {} at ids {} are {}, not {}", x, ids,
              updates, wanted);
  return {x};
}

// Sharded updates: along a dim of ids (sharded alike) each device adds its part, giving a partial
// sum; along another dim, x is sharded there too. If x is zero, only the updates matter.
std::vector<Placement> place_scatter(const Node& node) {
  const Value &x = node.input(0), &ids = node.input(1), &updates = node.input(2);
  const int dim = dim_of(node);
  Placement placed;
  for (size_t axis = 0; axis < placed.axes.size(); ++axis) {
    const AxisPlacement own = x.placement().axes[axis], id = ids.placement().axes[axis];
    const AxisPlacement update = updates.placement().axes[axis];
    AxisPlacement wanted = update, ids_wanted = kReplicated;
    if (update.kind == PlacementKind::kSharded) {
      if (update.dim == AxisPlacement::kNoDim) {
        wanted = kPartial;
        ids_wanted = id;
      } else if (update.dim >= dim && update.dim < dim + ids.rank()) {
        wanted = kPartial;
        ids_wanted = sharded(update.dim - dim);
      } else {
        wanted = sharded(update.dim < dim ? update.dim : update.dim - ids.rank() + 1);
      }
    }
    const bool fits = own == wanted || (own == kReplicated && is_zero(x));
    HUM_REQUIRE(
        fits && id == ids_wanted && id.kind != PlacementKind::kPartial,
        "scatter_add: x {} placed {}, ids {} placed {} and updates {} placed {} are incompatible",
        x.shape(), x.placement(), ids.shape(), ids.placement(), updates.shape(),
        updates.placement());
    placed.axes[axis] = wanted;
  }
  return {placed};
}

Values scatter_vjp(const Node& node, Cotangents cotangents) {
  return {cotangents[0], Value(), take(cotangents[0], node.input(1), dim_of(node))};
}

void print_scatter(Printer& out, const Node& node) {
  const Shape& ids = node.input(1).shape();
  const int dim = dim_of(node);
  const Shape scalar{node.shapes()[0].dtype, {}};
  const Value old = parameter("old", scalar), update = parameter("update", scalar);
  const Region sum{{old, update}, {old + update}};
  const auto window = window_dims(node.input(2).rank(), ids.rank(), dim);
  out.define_with_regions(
      node, fmt::format("\"stablehlo.scatter\"({})", out.operands(node.inputs())),
      std::span(&sum, 1),
      fmt::format("{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, "
                  "inserted_window_dims = [{}], scatter_dims_to_operand_dims = [{}], "
                  "index_vector_dim = {}>, indices_are_sorted = false, unique_indices = false}} : "
                  "({}) -> {}",
                  list_text(window), dim, dim, ids.rank(), Printer::types(node.inputs()),
                  type_text(node.shapes()[0])));
}

Cost scatter_cost(const Node& node) {
  const Shape& updates = node.input(2).shape();
  return {static_cast<double>(updates.elements()),
          bytes_touched(node) + static_cast<double>(updates.bytes())};
}

}  // namespace

const OpDef kGatherOp = {"gather",
                         infer_gather,
                         place_gather,
                         gather_vjp,
                         print_gather,
                         gather_cost,
                         {.memory = MemoryClass::kCheap, .elementwise = false}};
const OpDef kScatterAddOp = {"scatter_add",
                             infer_scatter,
                             place_scatter,
                             scatter_vjp,
                             print_scatter,
                             scatter_cost,
                             {.memory = MemoryClass::kOpaque, .elementwise = false}};

Value take(const Value& table, const Value& ids, int64_t dim, std::source_location where) {
  dim = resolve_dim("take", table, dim, where);
  return NodeBuilder{
      .op = kGatherOp, .inputs = {table, ids}, .attributes = {{"dim", dim}}, .where = where}
      .value();
}

Value scatter_add(const Value& x, const Value& ids, const Value& updates, int64_t dim,
                  std::source_location where) {
  dim = resolve_dim("scatter_add", x, dim, where);
  const bool narrow = x.dtype() == DType::kBF16 && updates.dtype() == DType::kBF16;
  const DType dtype = narrow ? DType::kF32 : x.dtype();
  const Value sum = NodeBuilder{.op = kScatterAddOp,
                                .inputs = {convert(x, dtype, where), ids,
                                           narrow ? convert(updates, dtype, where) : updates},
                                .attributes = {{"dim", dim}},
                                .where = where}
                        .value();
  return convert(sum, x.dtype(), where);
}

Value take_along_dim(const Value& x, const Value& ids, int64_t dim, std::source_location where) {
  const ErrorContext context = building("take_along_dim", {x, ids}, where);
  dim = resolve_dim("take_along_dim", x, dim, where);
  const auto d = static_cast<int>(dim);
  HUM_REQUIRE(ids.rank() == x.rank() && ids.dtype() == DType::kI32,
              "take_along_dim: ids {} of {} are not i32 of its rank", ids.shape(), x.shape());
  HUM_REQUIRE(x.shape().elements() < std::numeric_limits<int32_t>::max(),
              "take_along_dim: {} has too many elements for i32 ids", x.shape());
  const Value rows = swap_dims(x, d, -1, where), row_ids = swap_dims(ids, d, -1, where);
  HUM_REQUIRE(std::equal(rows.dims().begin(), rows.dims().end() - 1, row_ids.dims().begin()),
              "take_along_dim: ids {} do not fit {} in a dim other than {}", ids.shape(), x.shape(),
              dim);
  const int64_t size = x.size(d), count = x.shape().elements() / size;
  const Value flat_ids = reshape(row_ids, {count, ids.size(d)}, where) +
                         iota({DType::kI32, {count, 1}}, 0, where) * size;
  const Value taken = take(reshape(rows, {count * size}, where), flat_ids, 0, where);
  return swap_dims(reshape(taken, row_ids.dims(), where), d, -1, where);
}

Value one_hot(const Value& ids, int64_t depth, DType dtype, std::source_location where) {
  const ErrorContext context = building("one_hot", {ids}, where);
  HUM_REQUIRE(is_index(ids.dtype()), "one_hot: ids are {}, not i32 or ui32", ids.shape());
  const Value column = expand_dims(ids, -1, where);
  Dims dims = ids.dims();
  dims.push_back(depth);
  return convert(equal(column, iota({ids.dtype(), std::move(dims)}, -1, where)), dtype, where);
}

}  // namespace hum::graph
