#include "graph/ops/sort.h"

#include <cmath>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

int64_t dim_of(const Node& node) { return node.attributes().get<int64_t>("dim"); }

Shapes infer_sort(const Node& node) {
  Shapes shapes;
  for (const Value& input : node.inputs()) {
    HUM_REQUIRE(input.dims() == node.input(0).dims(), "sort: {} beside {}", input.shape(),
                node.input(0).shape());
    shapes.push_back(input.shape());
  }
  HUM_REQUIRE(node.input(0).dtype() != DType::kI1, "sort: needs numbers, not {}",
              node.input(0).shape());
  return shapes;
}

std::vector<Placement> place_sort(const Node& node) {
  for (const Value& input : node.inputs()) {
    require_uncut("sort", input, {dim_of(node)}, "and sorting needs all of it");
  }
  return place_elementwise(node);
}

// The original position of each sorted element; sorting by it restores the cotangents' order.
Values sort_vjp(const Node& node, std::span<const Value> cotangents) {
  const int64_t dim = dim_of(node);
  const Value origin =
      argsort(node.input(0), dim, {.descending = node.attributes().get<bool>("descending")});
  Values sorted = {origin};
  for (const Value& cotangent : cotangents) {
    if (cotangent) sorted.push_back(cotangent);
  }
  const Values back = sort(sorted, dim);
  Values result;
  size_t next = 1;
  for (const Value& cotangent : cotangents) result.push_back(cotangent ? back[next++] : Value());
  return result;
}

// The comparator reads only the first operand.
void print_sort(Printer& out, const Node& node) {
  const bool descending = node.attributes().get<bool>("descending");
  const DType dtype = node.input(0).dtype();
  const char* type = is_float(dtype) ? "TOTALORDER" : is_unsigned(dtype) ? "UNSIGNED" : "SIGNED";
  std::string parameters;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const std::string scalar = type_text({node.inputs()[i].dtype(), {}});
    parameters +=
        fmt::format("{}%sort_a{}: {}, %sort_b{}: {}", i == 0 ? "" : ", ", i, scalar, i, scalar);
  }
  const std::string scalar = type_text({dtype, {}});
  out.define(
      node,
      fmt::format("\"stablehlo.sort\"({}) ({{ ^bb0({}): %sort_c = stablehlo.compare {}, %sort_a0, "
                  "%sort_b0, {} : ({}, {}) -> tensor<i1> stablehlo.return %sort_c : tensor<i1> }}) "
                  "{{dimension = {} : i64, is_stable = true}} : ({}) -> ({})",
                  out.operands(node.inputs()), parameters, descending ? "GT" : "LT", type, scalar,
                  scalar, dim_of(node), Printer::types(node.inputs()),
                  Printer::types(node.shapes())));
}

// n log2 n comparisons per row.
Cost sort_cost(const Node& node) {
  const Shape& shape = node.input(0).shape();
  const auto length = static_cast<double>(shape.size(static_cast<int>(dim_of(node))));
  return {static_cast<double>(shape.elements()) * std::log2(std::max(2.0, length)),
          bytes_touched(node)};
}

}  // namespace

const OpDef kSortOp = {"sort",
                       infer_sort,
                       place_sort,
                       sort_vjp,
                       print_sort,
                       sort_cost,
                       {.memory = MemoryClass::kOpaque, .elementwise = false}};

Values sort(const Values& values, int64_t dim, SortOptions options, std::source_location where) {
  HUM_REQUIRE(!values.empty(), "sort: nothing to sort");
  return NodeBuilder{.op = kSortOp,
                     .inputs = values,
                     .attributes = {{"dim", resolve_dim("sort", values[0], dim, where)},
                                    {"descending", options.descending}},
                     .where = where}
      .values();
}

Value argsort(const Value& x, int64_t dim, SortOptions options, std::source_location where) {
  const int64_t resolved = resolve_dim("argsort", x, dim, where);
  const Value places = iota({DType::kI32, x.dims()}, static_cast<int>(resolved), where);
  return sort({x, places}, resolved, options, where)[1];
}

TopK top_k(const Value& x, int64_t k, std::source_location where) {
  const ErrorContext context = building("top_k", {x}, where);
  HUM_REQUIRE(x.rank() >= 1 && k >= 1 && k <= x.size(-1), "top_k: {} has no {} largest", x.shape(),
              k);
  const int dim = x.rank() - 1;
  const Values sorted =
      sort({x, iota({DType::kI32, x.dims()}, dim, where)}, dim, {.descending = true}, where);
  return {slice_in_dim(sorted[0], dim, 0, k, 1, where),
          slice_in_dim(sorted[1], dim, 0, k, 1, where)};
}

}  // namespace hum::graph
