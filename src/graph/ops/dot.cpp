#include "graph/ops/dot.h"

#include <algorithm>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/elementwise_impl.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

// One operand's part in the product.
struct Side {
  const Value& value;
  const Dims& batch;
  const Dims& contracting;
  Dims free;
};

Side side_of(const Node& node, int index) {
  const Value& value = node.input(index);
  const char* batch = index == 0 ? "lhs_batch" : "rhs_batch";
  const char* contracting = index == 0 ? "lhs_contracting" : "rhs_contracting";
  Side side{
      value, node.attributes().get<Dims>(batch), node.attributes().get<Dims>(contracting), {}};
  Dims used = side.batch;
  used.insert(used.end(), side.contracting.begin(), side.contracting.end());
  side.free = other_dims(value.rank(), used);
  return side;
}

void require_paired(const Shape& lhs, const Dims& lhs_dims, const Shape& rhs, const Dims& rhs_dims,
                    std::string_view kind) {
  HUM_REQUIRE(lhs_dims.size() == rhs_dims.size(), "dot_general: {} {} dims of {}, {} of {}",
              lhs_dims.size(), kind, lhs, rhs_dims.size(), rhs);
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    const int64_t l = lhs_dims[i], r = rhs_dims[i];
    HUM_REQUIRE(l >= 0 && l < lhs.rank() && r >= 0 && r < rhs.rank(),
                "dot_general: {} dims {} and {} are not in lhs {} and rhs {}", kind, l, r, lhs,
                rhs);
    HUM_REQUIRE(lhs.size(static_cast<int>(l)) == rhs.size(static_cast<int>(r)),
                "dot_general: {} sizes differ: lhs {} dim {}, rhs {} dim {}", kind, lhs, l, rhs, r);
  }
}

Shapes infer_dot(const Node& node) {
  const Side lhs = side_of(node, 0), rhs = side_of(node, 1);
  const Shape &l = lhs.value.shape(), &r = rhs.value.shape();
  HUM_REQUIRE(l.dtype == r.dtype && is_float(l.dtype),
              "dot_general: needs f32 or bf16 on both sides, not {} and {}", l, r);
  require_paired(l, lhs.batch, r, rhs.batch, "batch");
  require_paired(l, lhs.contracting, r, rhs.contracting, "contracting");
  for (const Side* side : {&lhs, &rhs}) {
    HUM_REQUIRE(side->free.size() + side->batch.size() + side->contracting.size() ==
                    side->value.dims().size(),
                "dot_general: a dim of {} appears twice", side->value.shape());
  }
  Shape result{node.attributes().get<DType>("dtype"), pick(l.dims, lhs.batch)};
  HUM_REQUIRE(result.dtype == DType::kF32 || result.dtype == l.dtype,
              "dot_general: {} x {} cannot give {}", l, r, result.dtype);
  std::ranges::copy(pick(l.dims, lhs.free), std::back_inserter(result.dims));
  std::ranges::copy(pick(r.dims, rhs.free), std::back_inserter(result.dims));
  return {result};
}

int position(const Dims& dims, int64_t dim) {
  return static_cast<int>(std::ranges::find(dims, dim) - dims.begin());
}

// The result's placement on one mesh axis, or nothing if the pair is invalid.
std::optional<AxisPlacement> place_axis(const Side& lhs, const AxisPlacement& l, const Side& rhs,
                                        const AxisPlacement& r) {
  const bool l_whole = l == kReplicated, r_whole = r == kReplicated;
  const auto batch = static_cast<int>(lhs.batch.size());
  const auto lhs_free = static_cast<int>(lhs.free.size());
  const bool cut = l.kind == PlacementKind::kSharded && r.kind == PlacementKind::kSharded;
  if (cut && l.dim != AxisPlacement::kNoDim && r.dim != AxisPlacement::kNoDim) {
    if (contains(lhs.batch, l.dim) && position(lhs.batch, l.dim) == position(rhs.batch, r.dim)) {
      return sharded(position(lhs.batch, l.dim));
    }
    const bool contracted = contains(lhs.contracting, l.dim) && contains(rhs.contracting, r.dim) &&
                            position(lhs.contracting, l.dim) == position(rhs.contracting, r.dim);
    return contracted ? std::optional(kPartial) : std::nullopt;
  }
  if (cut && l == r) return l;  // two dimless shards
  if (!l_whole && !r_whole) return {};
  const AxisPlacement& axis = l_whole ? r : l;
  if (axis.kind != PlacementKind::kSharded || axis.dim == AxisPlacement::kNoDim) return axis;
  const Side& side = l_whole ? rhs : lhs;
  if (!contains(side.free, axis.dim)) return {};
  return sharded(batch + (l_whole ? lhs_free : 0) + position(side.free, axis.dim));
}

std::vector<Placement> place_dot(const Node& node) {
  const Side lhs = side_of(node, 0), rhs = side_of(node, 1);
  Placement placement;
  for (size_t axis = 0; axis < placement.axes.size(); ++axis) {
    const auto placed =
        place_axis(lhs, lhs.value.placement().axes[axis], rhs, rhs.value.placement().axes[axis]);
    if (!placed) {
      fail(ExitCode::kFailure,
           fmt::format("dot_general: {} placed {} and {} placed {} are incompatible",
                       lhs.value.shape(), lhs.value.placement(), rhs.value.shape(),
                       rhs.value.placement()),
           "batch and contracting dims are cut on both sides or on none; one partial side at most");
    }
    placement.axes[axis] = *placed;
  }
  return {placement};
}

// The cotangent of `wrt`: c times the other side, summed over the other side's free dims.
Value dot_vjp_side(const Side& wrt, const Side& other, const Value& c, bool wrt_is_lhs) {
  const auto batch = static_cast<int64_t>(wrt.batch.size());
  const auto first_other =
      batch + (wrt_is_lhs ? static_cast<int64_t>(wrt.free.size()) : int64_t{0});
  Dims c_batch, c_contracting;
  for (int64_t i = 0; i < batch; ++i) c_batch.push_back(i);
  for (size_t i = 0; i < other.free.size(); ++i) {
    c_contracting.push_back(first_other + static_cast<int64_t>(i));
  }
  const Value narrow = convert(c, wrt.value.dtype());
  const Value product =
      dot_general(narrow, other.value, {c_batch, other.batch, c_contracting, other.free});
  // product's dims: batch, wrt.free, then other's contracting dims in their order there.
  Dims order(wrt.value.dims().size());
  int64_t at = 0;
  for (const int64_t dim : wrt.batch) order[static_cast<size_t>(dim)] = at++;
  for (const int64_t dim : wrt.free) order[static_cast<size_t>(dim)] = at++;
  Dims rising = other.contracting;
  std::ranges::sort(rising);
  for (const int64_t dim : rising) {
    const auto pair = static_cast<size_t>(position(other.contracting, dim));
    order[static_cast<size_t>(wrt.contracting[pair])] = at++;
  }
  return transpose(product, std::move(order));
}

Values dot_vjp(const Node& node, Cotangents cotangents) {
  const Side lhs = side_of(node, 0), rhs = side_of(node, 1);
  return {dot_vjp_side(lhs, rhs, cotangents[0], true),
          dot_vjp_side(rhs, lhs, cotangents[0], false)};
}

void print_dot(Printer& out, const Node& node) {
  const Side lhs = side_of(node, 0), rhs = side_of(node, 1);
  std::string numbers;
  const auto add = [&](const char* name, const Dims& dims) {
    if (dims.empty()) return;
    numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", name, list_text(dims));
  };
  add("lhs_batching_dimensions", lhs.batch);
  add("rhs_batching_dimensions", rhs.batch);
  add("lhs_contracting_dimensions", lhs.contracting);
  add("rhs_contracting_dimensions", rhs.contracting);
  const char* precision = lhs.value.dtype() == DType::kF32 ? "HIGHEST" : "DEFAULT";
  out.define_simple(node, fmt::format("dot_dimension_numbers = #stablehlo.dot<{}>, "
                                      "precision_config = [#stablehlo<precision {}>, "
                                      "#stablehlo<precision {}>]",
                                      numbers, precision, precision));
}

Cost dot_cost(const Node& node) {
  const Side lhs = side_of(node, 0);
  const auto products = static_cast<double>(node.shapes()[0].elements()) *
                        static_cast<double>(element_count(lhs.value.dims(), lhs.contracting));
  return {2 * products, bytes_touched(node)};
}

}  // namespace

const OpDef kDotGeneralOp = {"dot_general",
                             infer_dot,
                             place_dot,
                             dot_vjp,
                             print_dot,
                             dot_cost,
                             {.memory = MemoryClass::kProduct, .elementwise = false}};

Value dot_general(const Value& lhs, const Value& rhs, DotDims dims, std::optional<DType> result,
                  std::source_location where) {
  return NodeBuilder{.op = kDotGeneralOp,
                     .inputs = {lhs, rhs},
                     .attributes = {{"lhs_batch", std::move(dims.lhs_batch)},
                                    {"rhs_batch", std::move(dims.rhs_batch)},
                                    {"lhs_contracting", std::move(dims.lhs_contracting)},
                                    {"rhs_contracting", std::move(dims.rhs_contracting)},
                                    {"dtype", result.value_or(lhs.dtype())}},
                     .where = where}
      .value();
}

Value matmul(const Value& lhs, const Value& rhs, MatmulOptions options,
             std::source_location where) {
  const ErrorContext context = building("matmul", {lhs, rhs}, where);
  const int lhs_rank = lhs.rank(), rhs_rank = rhs.rank();
  HUM_REQUIRE(rhs_rank >= 2 && lhs_rank >= (rhs_rank == 2 && !options.transpose_lhs ? 1 : 2),
              "matmul: {} x {}: needs matrices", lhs.shape(), rhs.shape());
  const Dims lhs_inner = {options.transpose_lhs ? lhs_rank - 2 : lhs_rank - 1};
  const Dims rhs_inner = {options.transpose_rhs ? rhs_rank - 1 : rhs_rank - 2};
  if (rhs_rank == 2 && (lhs_rank <= 2 || !options.transpose_lhs)) {
    return dot_general(lhs, rhs, {{}, {}, lhs_inner, rhs_inner}, options.result, where);
  }
  const auto leading = [](const Value& x) {
    return Shape{x.dtype(), {x.dims().begin(), x.dims().end() - 2}};
  };
  const Dims batch = broadcast_dims("matmul", leading(lhs), leading(rhs));
  const auto whole = [&](const Value& x) {
    Dims dims = batch;
    dims.insert(dims.end(), x.dims().end() - 2, x.dims().end());
    return broadcast_to(x, dims, where);
  };
  const Dims sides = other_dims(static_cast<int>(batch.size()), {});
  const auto rank = static_cast<int64_t>(batch.size()) + 2;
  return dot_general(whole(lhs), whole(rhs),
                     {sides,
                      sides,
                      {options.transpose_lhs ? rank - 2 : rank - 1},
                      {options.transpose_rhs ? rank - 1 : rank - 2}},
                     options.result, where);
}

}  // namespace hum::graph
