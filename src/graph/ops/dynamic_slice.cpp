// dynamic_slice and dynamic_update_slice: windows with starts known only at run time.
#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/indexing.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

Values starts_of(const Node& node, size_t first) {
  return {node.inputs().begin() + static_cast<std::ptrdiff_t>(first), node.inputs().end()};
}

void require_starts(const Node& node, size_t first) {
  const Shape& x = node.input(0).shape();
  HUM_REQUIRE(node.inputs().size() - first == x.dims.size(), "{}: {} needs {} starts, got {}",
              node.op().name, x, x.rank(), node.inputs().size() - first);
  for (const Value& start : starts_of(node, first)) {
    const bool index = start.dtype() == DType::kI32 || start.dtype() == DType::kU32;
    HUM_REQUIRE(start.rank() == 0 && index, "{}: a start is {}, not a scalar i32 or ui32",
                node.op().name, start.shape());
    HUM_REQUIRE(start.dtype() == node.input(static_cast<int>(first)).dtype(),
                "{}: starts are of different types", node.op().name);
  }
}

void require_replicated_starts(const Node& node, size_t first) {
  for (const Value& start : starts_of(node, first)) {
    HUM_REQUIRE(start.placement().is_replicated(), "{}: a start is placed {}, not replicated",
                node.op().name, start.placement());
  }
}

// Throws unless windows of `window` fit into x.
void require_fits(const Node& node, const Dims& window) {
  const Shape& x = node.input(0).shape();
  bool fits = window.size() == x.dims.size();
  for (size_t d = 0; fits && d < window.size(); ++d) fits = window[d] > 0 && window[d] <= x.dims[d];
  HUM_REQUIRE(fits, "{}: a window of [{}] does not fit into {}", node.op().name,
              fmt::join(window, ","), x);
}

Dims moved_dims(const Node& node, const Dims& window) {
  Dims moved;
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d] != node.input(0).dims()[d]) moved.push_back(static_cast<int64_t>(d));
  }
  return moved;
}

Shapes infer_slice(const Node& node) {
  require_starts(node, 1);
  const Dims& sizes = node.attributes().get<Dims>("sizes");
  require_fits(node, sizes);
  return {{node.input(0).dtype(), sizes}};
}

std::vector<Placement> place_slice(const Node& node) {
  require_replicated_starts(node, 1);
  require_uncut("dynamic_slice", node.input(0), moved_dims(node, node.shapes()[0].dims),
                "and each device holds a different part of it");
  return {node.input(0).placement()};
}

// `of_x`, and no cotangents for the starts.
Values with_empty_starts(const Node& node, Values cotangents) {
  cotangents.resize(node.inputs().size());
  return cotangents;
}

Values slice_vjp(const Node& node, Cotangents cotangents) {
  return with_empty_starts(
      node, {dynamic_update_slice(zeros_like(node.input(0)), cotangents[0], starts_of(node, 1))});
}

void print_slice(Printer& out, const Node& node) {
  out.define_simple(node, "slice_sizes = " + array_text(node.attributes().get<Dims>("sizes")));
}

Cost slice_cost(const Node& node) { return {0, 2 * static_cast<double>(node.shapes()[0].bytes())}; }

Shapes infer_update(const Node& node) {
  require_starts(node, 2);
  const Shape &x = node.input(0).shape(), &update = node.input(1).shape();
  HUM_REQUIRE(update.dtype == x.dtype, "dynamic_update_slice: an update of {} is {}", x, update);
  require_fits(node, update.dims);
  return {x};
}

// x and the update have the same placement, or one of them is zero; a sharded dim is replaced
// whole.
std::vector<Placement> place_update(const Node& node) {
  require_replicated_starts(node, 2);
  const Value &x = node.input(0), &update = node.input(1);
  const Dims moved = moved_dims(node, update.dims());
  for (const Value* value : {&x, &update}) {
    require_uncut("dynamic_update_slice", *value, moved,
                  "and each device holds a different part of it");
  }
  if (is_zero(x) && x.placement().is_replicated()) return {update.placement()};
  if (is_zero(update) && update.placement().is_replicated()) return {x.placement()};
  HUM_REQUIRE(x.placement() == update.placement(),
              "dynamic_update_slice: {} is placed {}, its update {}", x.shape(), x.placement(),
              update.placement());
  return {x.placement()};
}

Values update_vjp(const Node& node, Cotangents cotangents) {
  const Value& update = node.input(1);
  const Values starts = starts_of(node, 2);
  return with_empty_starts(node, {dynamic_update_slice(cotangents[0], zeros_like(update), starts),
                                  dynamic_slice(cotangents[0], starts, update.dims())});
}

void print_update(Printer& out, const Node& node) { out.define_simple(node); }

// The update is read and written; x is overwritten in place, or copied by an earlier op.
Cost update_cost(const Node& node) {
  return {0, 2 * static_cast<double>(node.input(1).shape().bytes())};
}

// `start` at `dim`, zeros elsewhere.
Values starts_in_dim(const Value& x, const Value& start, int64_t dim, std::source_location where) {
  Values starts(x.dims().size(), constant(0, {start.dtype(), {}}, where));
  starts[static_cast<size_t>(dim)] = start;
  return starts;
}

}  // namespace

const OpDef kDynamicSliceOp = {"dynamic_slice",
                               infer_slice,
                               place_slice,
                               slice_vjp,
                               print_slice,
                               slice_cost,
                               {.memory = MemoryClass::kCheap, .elementwise = false}};
const OpDef kDynamicUpdateSliceOp = {"dynamic_update_slice",
                                     infer_update,
                                     place_update,
                                     update_vjp,
                                     print_update,
                                     update_cost,
                                     {.memory = MemoryClass::kOpaque, .elementwise = false}};

Value dynamic_slice(const Value& x, Values starts, Dims sizes, std::source_location where) {
  starts.insert(starts.begin(), x);
  return NodeBuilder{.op = kDynamicSliceOp,
                     .inputs = std::move(starts),
                     .attributes = {{"sizes", std::move(sizes)}},
                     .where = where}
      .value();
}

Value dynamic_update_slice(const Value& x, const Value& update, Values starts,
                           std::source_location where) {
  starts.insert(starts.begin(), {x, update});
  return NodeBuilder{.op = kDynamicUpdateSliceOp, .inputs = std::move(starts), .where = where}
      .value();
}

Value dynamic_slice_in_dim(const Value& x, const Value& start, int64_t size, int64_t dim,
                           std::source_location where) {
  dim = resolve_dim("dynamic_slice_in_dim", x, dim, where);
  Dims sizes = x.dims();
  sizes[static_cast<size_t>(dim)] = size;
  return dynamic_slice(x, starts_in_dim(x, start, dim, where), std::move(sizes), where);
}

Value dynamic_update_slice_in_dim(const Value& x, const Value& update, const Value& start,
                                  int64_t dim, std::source_location where) {
  dim = resolve_dim("dynamic_update_slice_in_dim", x, dim, where);
  return dynamic_update_slice(x, update, starts_in_dim(x, start, dim, where), where);
}

}  // namespace hum::graph
