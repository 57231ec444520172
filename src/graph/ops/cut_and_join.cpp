// concatenate, slice, pad: joins values and extracts parts of them.
#include <algorithm>

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

Shapes infer_concatenate(const Node& node) {
  HUM_REQUIRE(!node.inputs().empty(), "concatenate: no values");
  const auto dim = static_cast<size_t>(node.attributes().get<int64_t>("dim"));
  Shape result = node.input(0).shape();
  result.dims[dim] = 0;
  for (const Value& input : node.inputs()) {
    Shape other = input.shape();
    if (other.rank() == result.rank()) other.dims[dim] = result.dims[dim];
    HUM_REQUIRE(other == result, "concatenate: {} does not fit {} in a dim other than {}",
                input.shape(), node.input(0).shape(), dim);
    result.dims[dim] += input.dims()[dim];
  }
  return {result};
}

std::vector<Placement> place_concatenate(const Node& node) {
  for (const Value& input : node.inputs()) {
    require_uncut("concatenate", input, {node.attributes().get<int64_t>("dim")},
                  "and joining the parts would shuffle its elements");
  }
  return place_linear(node);
}

Values concatenate_vjp(const Node& node, Cotangents cotangents) {
  const int64_t dim = node.attributes().get<int64_t>("dim");
  Dims sizes;
  for (const Value& input : node.inputs()) sizes.push_back(input.size(static_cast<int>(dim)));
  return split(cotangents[0], sizes, dim);
}

void print_concatenate(Printer& out, const Node& node) {
  out.define_simple(node,
                    fmt::format("dimension = {} : i64", node.attributes().get<int64_t>("dim")));
}

// Indices of the dims for which `keeps` is false.
template <typename Keeps>
Dims touched_dims(int rank, Keeps keeps) {
  Dims touched;
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    if (!keeps(d)) touched.push_back(static_cast<int64_t>(d));
  }
  return touched;
}

Shapes infer_slice(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Dims& starts = node.attributes().get<Dims>("starts");
  const Dims& limits = node.attributes().get<Dims>("limits");
  const Dims& strides = node.attributes().get<Dims>("strides");
  const auto rank = static_cast<size_t>(from.rank());
  HUM_REQUIRE(starts.size() == rank && limits.size() == rank && strides.size() == rank,
              "slice: {} needs {} starts, limits and strides, got {}, {} and {}", from, rank,
              starts.size(), limits.size(), strides.size());
  Shape to{from.dtype, {}};
  for (size_t d = 0; d < rank; ++d) {
    HUM_REQUIRE(
        starts[d] >= 0 && starts[d] < limits[d] && limits[d] <= from.dims[d] && strides[d] > 0,
        "slice: [{}:{}:{}] is empty or outside dim {} of {}", starts[d], limits[d], strides[d], d,
        from);
    to.dims.push_back((limits[d] - starts[d] + strides[d] - 1) / strides[d]);
  }
  return {to};
}

std::vector<Placement> place_slice(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Dims touched =
      touched_dims(from.rank(), [&](size_t d) { return from.dims[d] == node.shapes()[0].dims[d]; });
  require_uncut("slice", node.input(0), touched, "and each device holds a different part of it");
  return {node.input(0).placement()};
}

Values slice_vjp(const Node& node, Cotangents cotangents) {
  const Dims& starts = node.attributes().get<Dims>("starts");
  const Dims& strides = node.attributes().get<Dims>("strides");
  Dims high, interior;
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t last = starts[d] + (node.shapes()[0].dims[d] - 1) * strides[d];
    high.push_back(node.input(0).dims()[d] - 1 - last);
    interior.push_back(strides[d] - 1);
  }
  return {pad(cotangents[0], 0.0, starts, std::move(high), std::move(interior))};
}

Value simplify_slice(const Node& node, const Values& in) {
  return node.shapes()[0] == in[0].shape() ? in[0] : Value();
}

void print_slice(Printer& out, const Node& node) {
  out.define_simple(node, fmt::format("start_indices = {}, limit_indices = {}, strides = {}",
                                      array_text(node.attributes().get<Dims>("starts")),
                                      array_text(node.attributes().get<Dims>("limits")),
                                      array_text(node.attributes().get<Dims>("strides"))));
}

Shapes infer_pad(const Node& node) {
  const Shape& from = node.input(0).shape();
  const Shape& value = node.input(1).shape();
  const Dims& low = node.attributes().get<Dims>("low");
  const Dims& high = node.attributes().get<Dims>("high");
  const Dims& interior = node.attributes().get<Dims>("interior");
  HUM_REQUIRE((value == Shape{from.dtype, {}}), "pad: the value of {} is {}, not a scalar of it",
              from, value);
  const auto rank = static_cast<size_t>(from.rank());
  HUM_REQUIRE(low.size() == rank && high.size() == rank && interior.size() == rank,
              "pad: {} needs {} lows, highs and interiors, got {}, {} and {}", from, rank,
              low.size(), high.size(), interior.size());
  Shape to{from.dtype, {}};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = low[d] + from.dims[d] + (from.dims[d] - 1) * interior[d] + high[d];
    HUM_REQUIRE(interior[d] >= 0 && size > 0,
                "pad: low {}, high {}, interior {} leave nothing of dim {} of {}", low[d], high[d],
                interior[d], d, from);
    to.dims.push_back(size);
  }
  return {to};
}

// Linear in x and the value together; a zero value is compatible with any x.
std::vector<Placement> place_pad(const Node& node) {
  const Value &x = node.input(0), &value = node.input(1);
  const Dims& low = node.attributes().get<Dims>("low");
  const Dims& high = node.attributes().get<Dims>("high");
  const Dims& interior = node.attributes().get<Dims>("interior");
  const Dims touched = touched_dims(
      x.rank(), [&](size_t d) { return low[d] == 0 && high[d] == 0 && interior[d] == 0; });
  require_uncut("pad", x, touched, "and each device would pad its own part");
  if (is_zero(value)) return {x.placement()};
  return place_linear(node);
}

Values pad_vjp(const Node& node, Cotangents cotangents) {
  Dims low = node.attributes().get<Dims>("low"), high = node.attributes().get<Dims>("high");
  Dims strides = node.attributes().get<Dims>("interior");
  for (int64_t& size : low) size = -size;
  for (int64_t& size : high) size = -size;
  for (int64_t& size : strides) ++size;
  const Value whole = pad(cotangents[0], 0.0, low, high);
  const Value of_x = slice(whole, Dims(low.size(), 0), whole.dims(), strides);
  const Value of_value = reduce_sum(cotangents[0], other_dims(of_x.rank(), {})) -
                         reduce_sum(of_x, other_dims(of_x.rank(), {}));
  return {of_x, of_value};
}

void print_pad(Printer& out, const Node& node) {
  out.define_simple(
      node, fmt::format("edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}",
                        array_text(node.attributes().get<Dims>("low")),
                        array_text(node.attributes().get<Dims>("high")),
                        array_text(node.attributes().get<Dims>("interior"))));
}

}  // namespace

const OpDef kConcatenateOp = {"concatenate",
                              infer_concatenate,
                              place_concatenate,
                              concatenate_vjp,
                              print_concatenate,
                              data_movement_cost,
                              {.memory = MemoryClass::kCheap, .elementwise = false}};
const OpDef kSliceOp = {
    "slice",
    infer_slice,
    place_slice,
    slice_vjp,
    print_slice,
    data_movement_cost,
    {.memory = MemoryClass::kCheap, .elementwise = false, .simplify = simplify_slice}};
const OpDef kPadOp = {"pad",
                      infer_pad,
                      place_pad,
                      pad_vjp,
                      print_pad,
                      data_movement_cost,
                      {.memory = MemoryClass::kCheap, .elementwise = false}};

Value concatenate(const Values& values, int64_t dim, std::source_location where) {
  const ErrorContext context = building("concatenate", values, where);
  HUM_REQUIRE(!values.empty(), "concatenate: no values");
  dim = resolve_dim("concatenate", values[0], dim, where);
  if (values.size() == 1) return values[0];
  return NodeBuilder{
      .op = kConcatenateOp, .inputs = values, .attributes = {{"dim", dim}}, .where = where}
      .value();
}

Value stack(const Values& values, int64_t dim, std::source_location where) {
  Values rows;
  for (const Value& value : values) rows.push_back(expand_dims(value, dim, where));
  return concatenate(rows, dim, where);
}

Value slice(const Value& x, Dims starts, Dims limits, Dims strides, std::source_location where) {
  if (strides.empty()) strides.assign(starts.size(), 1);
  const auto all = [](const Dims& dims, int64_t wanted) {
    return std::ranges::all_of(dims, [&](int64_t dim) { return dim == wanted; });
  };
  if (all(starts, 0) && all(strides, 1) && limits == x.dims()) return x;
  return NodeBuilder{.op = kSliceOp,
                     .inputs = {x},
                     .attributes = {{"starts", std::move(starts)},
                                    {"limits", std::move(limits)},
                                    {"strides", std::move(strides)}},
                     .where = where}
      .value();
}

Value slice_in_dim(const Value& x, int64_t dim, int64_t start, int64_t limit, int64_t stride,
                   std::source_location where) {
  const auto d = static_cast<size_t>(resolve_dim("slice_in_dim", x, dim, where));
  Dims starts(x.dims().size(), 0), limits = x.dims(), strides(x.dims().size(), 1);
  starts[d] = start < 0 ? start + x.dims()[d] : start;
  limits[d] = limit < 0 ? limit + x.dims()[d] : limit;
  strides[d] = stride;
  return slice(x, std::move(starts), std::move(limits), std::move(strides), where);
}

Values split(const Value& x, std::span<const int64_t> sizes, int64_t dim,
             std::source_location where) {
  const ErrorContext context = building("split", {x}, where);
  dim = resolve_dim("split", x, dim, where);
  int64_t start = 0;
  Values parts;
  for (const int64_t size : sizes) {
    parts.push_back(slice_in_dim(x, dim, start, start + size, 1, where));
    start += size;
  }
  HUM_REQUIRE(start == x.size(static_cast<int>(dim)), "split: [{}] is not all of dim {} of {}",
              fmt::join(sizes, ","), dim, x.shape());
  return parts;
}

Values split(const Value& x, int64_t parts, int64_t dim, std::source_location where) {
  const ErrorContext context = building("split", {x}, where);
  const int64_t size = x.size(static_cast<int>(resolve_dim("split", x, dim, where)));
  HUM_REQUIRE(parts > 0 && size % parts == 0, "split: dim {} of {} has no {} equal parts", dim,
              x.shape(), parts);
  return split(x, Dims(static_cast<size_t>(parts), size / parts), dim, where);
}

Value pad(const Value& x, const Value& value, Dims low, Dims high, Dims interior,
          std::source_location where) {
  if (interior.empty()) interior.assign(low.size(), 0);
  const Dims none(x.dims().size(), 0);
  if (low == none && high == none && interior == none) return x;
  return NodeBuilder{.op = kPadOp,
                     .inputs = {x, value},
                     .attributes = {{"low", std::move(low)},
                                    {"high", std::move(high)},
                                    {"interior", std::move(interior)}},
                     .where = where}
      .value();
}

Value pad(const Value& x, double value, Dims low, Dims high, Dims interior,
          std::source_location where) {
  return pad(x, constant(value, {x.dtype(), {}}, where), std::move(low), std::move(high),
             std::move(interior), where);
}

Value pad_in_dim(const Value& x, double value, int64_t dim, int64_t low, int64_t high,
                 std::source_location where) {
  const auto d = static_cast<size_t>(resolve_dim("pad_in_dim", x, dim, where));
  Dims lows(x.dims().size(), 0), highs(x.dims().size(), 0);
  lows[d] = low;
  highs[d] = high;
  return pad(x, value, std::move(lows), std::move(highs), {}, where);
}

}  // namespace hum::graph
