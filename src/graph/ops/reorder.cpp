// reshape, transpose, reverse: the same elements in another order or with other dims.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

Shapes infer_reshape(const Node& node) {
  const Shape& from = node.input(0).shape();
  Shape to{from.dtype, node.attributes().get<Dims>("dims")};
  HUM_REQUIRE(from.elements() == to.elements(), "reshape: {} has {} elements, [{}] has {}", from,
              from.elements(), fmt::join(to.dims, ","), to.elements());
  return {to};
}

Value simplify_reshape(const Node& node, const Values& in) {
  const Dims& dims = node.shapes()[0].dims;
  const Node& inner = in[0].node();
  const Value& from = &inner.op() == &kReshapeOp ? inner.input(0) : in[0];
  if (from.dims() == dims) return from;
  return from == in[0] ? Value() : reshape(from, dims, node.where());
}

// A sharded dim is preserved if it begins at the same row-major stride in both shapes.
std::vector<Placement> place_reshape(const Node& node) {
  const Shape &from = node.input(0).shape(), &to = node.shapes()[0];
  const auto outer = [](const Dims& dims, int count) {
    return std::accumulate(dims.begin(), dims.begin() + count, int64_t{1}, std::multiplies<>());
  };
  return {map_shards(node.input(0).placement(), [&](int cut) {
    const int64_t wanted = outer(from.dims, cut);
    int dim = 0;
    while (dim < to.rank() && (outer(to.dims, dim) != wanted || to.size(dim) == 1)) ++dim;
    HUM_REQUIRE(dim < to.rank(), "reshape: {} sharded in dim {} cannot become {}", from, cut, to);
    return sharded(dim);
  })};
}

Values reshape_vjp(const Node& node, Cotangents cotangents) {
  return {reshape(cotangents[0], node.input(0).dims())};
}

void print_reshape(Printer& out, const Node& node) { out.define_simple(node); }

Shapes infer_transpose(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Dims& permutation = node.attributes().get<Dims>("permutation");
  Dims sorted = permutation;
  std::ranges::sort(sorted);
  HUM_REQUIRE(sorted == other_dims(from.rank(), {}),
              "transpose: [{}] is not a permutation of the dims of {}", fmt::join(permutation, ","),
              from);
  return {{from.dtype, pick(from.dims, permutation)}};
}

std::vector<Placement> place_transpose(const Node& node) {
  const Dims& permutation = node.attributes().get<Dims>("permutation");
  return {map_shards(node.input(0).placement(), [&](int cut) {
    return sharded(static_cast<int>(std::ranges::find(permutation, cut) - permutation.begin()));
  })};
}

Value simplify_transpose(const Node& node, const Values& in) {
  Dims permutation = node.attributes().get<Dims>("permutation");
  Value from = in[0];
  if (const Node& inner = from.node(); &inner.op() == &kTransposeOp) {
    const Dims& first = inner.attributes().get<Dims>("permutation");
    for (int64_t& dim : permutation) dim = first[static_cast<size_t>(dim)];
    from = inner.input(0);
  }
  if (std::ranges::is_sorted(permutation)) return from;
  return from == in[0] ? Value() : transpose(from, permutation, node.where());
}

Values transpose_vjp(const Node& node, Cotangents cotangents) {
  const Dims& permutation = node.attributes().get<Dims>("permutation");
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return {transpose(cotangents[0], std::move(inverse))};
}

void print_transpose(Printer& out, const Node& node) {
  out.define_simple(node,
                    "permutation = " + array_text(node.attributes().get<Dims>("permutation")));
}

Shapes infer_reverse(const Node& node) { return {node.input(0).shape()}; }

std::vector<Placement> place_reverse(const Node& node) {
  require_uncut("reverse", node.input(0), node.attributes().get<Dims>("dims"),
                "and reversing would swap the devices' parts");
  return {node.input(0).placement()};
}

Values reverse_vjp(const Node& node, Cotangents cotangents) {
  return {reverse(cotangents[0], node.attributes().get<Dims>("dims"))};
}

void print_reverse(Printer& out, const Node& node) {
  out.define_simple(node, "dimensions = " + array_text(node.attributes().get<Dims>("dims")));
}

}  // namespace

const OpDef kReshapeOp = {"reshape",
                          infer_reshape,
                          place_reshape,
                          reshape_vjp,
                          print_reshape,
                          data_movement_cost,
                          {.memory = MemoryClass::kAlias,
                           .elementwise = false,
                           .takes_partial_cotangents = true,
                           .simplify = simplify_reshape}};
const OpDef kTransposeOp = {"transpose",
                            infer_transpose,
                            place_transpose,
                            transpose_vjp,
                            print_transpose,
                            data_movement_cost,
                            {.memory = MemoryClass::kCheap,
                             .elementwise = false,
                             .takes_partial_cotangents = true,
                             .simplify = simplify_transpose}};
const OpDef kReverseOp = {
    "reverse",
    infer_reverse,
    place_reverse,
    reverse_vjp,
    print_reverse,
    data_movement_cost,
    {.memory = MemoryClass::kCheap, .elementwise = false, .involution = true}};

Value reshape(const Value& x, Dims dims, std::source_location where) {
  if (x && x.dims() == dims) return x;
  return NodeBuilder{
      .op = kReshapeOp, .inputs = {x}, .attributes = {{"dims", std::move(dims)}}, .where = where}
      .value();
}

Value squeeze(const Value& x, Dims dims, std::source_location where) {
  const ErrorContext context = building("squeeze", {x}, where);
  dims = resolve_dims("squeeze", x, std::move(dims), where);
  for (const int64_t dim : dims) {
    HUM_REQUIRE(x.size(static_cast<int>(dim)) == 1, "squeeze: dim {} of {} is not of size 1", dim,
                x.shape());
  }
  return reshape(x, pick(x.dims(), other_dims(x.rank(), dims)), where);
}

Value expand_dims(const Value& x, int64_t dim, std::source_location where) {
  const ErrorContext context = building("expand_dims", {x}, where);
  HUM_REQUIRE(dim >= -x.rank() - 1 && dim <= x.rank(), "expand_dims: {} has no place for dim {}",
              x.shape(), dim);
  Dims dims = x.dims();
  dims.insert(dims.begin() + (dim < 0 ? dim + x.rank() + 1 : dim), 1);
  return reshape(x, std::move(dims), where);
}

Value transpose(const Value& x, Dims permutation, std::source_location where) {
  if (permutation == other_dims(x.rank(), {})) return x;
  return NodeBuilder{.op = kTransposeOp,
                     .inputs = {x},
                     .attributes = {{"permutation", std::move(permutation)}},
                     .where = where}
      .value();
}

Value swap_dims(const Value& x, int64_t a, int64_t b, std::source_location where) {
  Dims permutation = other_dims(x.rank(), {});
  std::swap(permutation[static_cast<size_t>(resolve_dim("swap_dims", x, a, where))],
            permutation[static_cast<size_t>(resolve_dim("swap_dims", x, b, where))]);
  return transpose(x, std::move(permutation), where);
}

Value reverse(const Value& x, Dims dims, std::source_location where) {
  dims = resolve_dims("reverse", x, std::move(dims), where);
  return NodeBuilder{
      .op = kReverseOp, .inputs = {x}, .attributes = {{"dims", std::move(dims)}}, .where = where}
      .value();
}

}  // namespace hum::graph
