#include "graph/ops/reduce_window.h"

#include <limits>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

WindowOptions window_of(const Node& node) {
  const Attributes& a = node.attributes();
  return {a.get<Dims>("size"), a.get<Dims>("strides"), a.get<Dims>("padding_low"),
          a.get<Dims>("padding_high")};
}

Shapes infer_reduce_window(const Node& node) {
  const Shape& x = node.input(0).shape();
  const WindowOptions w = window_of(node);
  HUM_REQUIRE(is_float(x.dtype), "{}: needs f32 or bf16, not {}", node.op().name, x);
  Shape result{x.dtype, {}};
  for (int d = 0; d < x.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    const int64_t padded = x.size(d) + w.padding_low[i] + w.padding_high[i];
    HUM_REQUIRE(w.size[i] >= 1 && w.strides[i] >= 1 && padded >= w.size[i],
                "{}: dim {} of {} is {} long with padding, the window is {}", node.op().name, d, x,
                padded, w.size[i]);
    result.dims.push_back((padded - w.size[i]) / w.strides[i] + 1);
  }
  return {result};
}

std::vector<Placement> place_reduce_window(const Node& node) {
  const WindowOptions w = window_of(node);
  Dims moved;
  for (size_t d = 0; d < w.size.size(); ++d) {
    if (w.size[d] > 1 || w.strides[d] > 1 || w.padding_low[d] != 0 || w.padding_high[d] != 0) {
      moved.push_back(static_cast<int64_t>(d));
    }
  }
  require_uncut(node.op().name, node.input(0), moved, "and windows reach across the cut");
  return &node.op() == &kReduceWindowSumOp ? place_linear(node) : place_elementwise(node);
}

// Each element is in the windows that start up to size - 1 before it: sums those cotangents, spread
// apart by the strides.
Values sum_vjp(const Node& node, Cotangents cotangents) {
  const Value& x = node.input(0);
  const WindowOptions w = window_of(node);
  Dims low, high, interior;
  for (size_t d = 0; d < w.size.size(); ++d) {
    const int64_t spread = (cotangents[0].dims()[d] - 1) * w.strides[d] + 1;
    low.push_back(w.size[d] - 1 - w.padding_low[d]);
    high.push_back(x.dims()[d] + w.padding_low[d] - spread);
    interior.push_back(w.strides[d] - 1);
  }
  return {reduce_window_sum(pad(cotangents[0], 0.0, low, high, interior), {.size = w.size})};
}

// The next offset inside the window; false after the last.
bool advance(Dims& offset, const Dims& size) {
  for (size_t d = size.size(); d-- > 0;) {
    if (++offset[d] < size[d]) return true;
    offset[d] = 0;
  }
  return false;
}

// For each position in the window: the cotangent share of that element where it is the maximum.
Values max_vjp(const Node& node, Cotangents cotangents) {
  const Value &x = node.input(0), y = node.output();
  const WindowOptions w = window_of(node);
  const Value padded =
      pad(x, -std::numeric_limits<double>::infinity(), w.padding_low, w.padding_high);
  std::vector<Dims> offsets = {Dims(w.size.size(), 0)};
  for (Dims next = offsets[0]; advance(next, w.size);) offsets.push_back(next);
  const auto reach = [&](const Dims& from, size_t d) {
    return from[d] + (y.dims()[d] - 1) * w.strides[d] + 1;
  };
  Values is_max;
  Value count;
  for (const Dims& from : offsets) {
    Dims limits;
    for (size_t d = 0; d < from.size(); ++d) limits.push_back(reach(from, d));
    is_max.push_back(convert(equal(slice(padded, from, limits, w.strides), y), DType::kF32));
    count = count ? count + is_max.back() : is_max.back();
  }
  const Value share = convert(cotangents[0], DType::kF32) / count;
  Value sum;
  for (size_t o = 0; o < offsets.size(); ++o) {
    Dims low, high, interior;
    for (size_t d = 0; d < w.size.size(); ++d) {
      low.push_back(offsets[o][d] - w.padding_low[d]);
      high.push_back(x.dims()[d] + w.padding_low[d] - reach(offsets[o], d));
      interior.push_back(w.strides[d] - 1);
    }
    const Value back = pad(share * is_max[o], 0.0, low, high, interior);
    sum = sum ? sum + back : back;
  }
  return {convert(sum, x.dtype())};
}

void print_window(Printer& out, const Node& node, const char* reducer, DType dtype,
                  const std::string& first) {
  const WindowOptions w = window_of(node);
  const Shape in{dtype, node.input(0).dims()}, result{dtype, node.shapes()[0].dims};
  const std::string scalar = type_text({dtype, {}});
  std::string operand = out.operand(node.input(0)), padding;
  if (dtype != node.input(0).dtype()) {
    operand = out.emit(fmt::format("stablehlo.convert {} : ({}) -> {}", operand,
                                   type_text(node.input(0).shape()), type_text(in)));
  }
  for (size_t d = 0; d < w.size.size(); ++d) {
    padding += fmt::format("{}[{}, {}]", d == 0 ? "" : ", ", w.padding_low[d], w.padding_high[d]);
  }
  const std::string start =
      out.emit(fmt::format("stablehlo.constant dense<{}> : {}", first, scalar));
  const std::string text = fmt::format(
      "\"stablehlo.reduce_window\"({}, {}) ({{ ^bb0(%window_a: {}, %window_b: {}): %window_c = "
      "stablehlo.{} %window_a, %window_b : {} stablehlo.return %window_c : {} }}) "
      "{{window_dimensions = {}, window_strides = {}, padding = dense<[{}]> : tensor<{}x2xi64>}} : "
      "({}, {}) -> {}",
      operand, start, scalar, scalar, reducer, scalar, scalar, array_text(w.size),
      array_text(w.strides), padding, w.size.size(), type_text(in), scalar, type_text(result));
  if (dtype == node.shapes()[0].dtype) return out.define(node, text);
  const std::string sums = out.emit(text);
  out.define(node, fmt::format("stablehlo.convert {} : ({}) -> {}", sums, type_text(result),
                               type_text(node.shapes()[0])));
}

void print_sum(Printer& out, const Node& node) {
  print_window(out, node, "add", DType::kF32, "0.0");
}

void print_max(Printer& out, const Node& node) {
  const bool wide = node.input(0).dtype() == DType::kF32;
  print_window(out, node, "maximum", node.input(0).dtype(), wide ? "0xFF800000" : "0xFF80");
}

Cost window_cost(const Node& node) {
  double flops = static_cast<double>(node.shapes()[0].elements());
  for (const int64_t size : window_of(node).size) flops *= static_cast<double>(size);
  return {flops, bytes_touched(node)};
}

Value reduce_window(const OpDef& op, const Value& x, WindowOptions options,
                    std::source_location where) {
  const ErrorContext context = building(op.name, {x}, where);
  const auto rank = static_cast<size_t>(x.rank());
  const auto filled = [&](Dims list, int64_t value) {
    if (list.empty()) list.assign(rank, value);
    HUM_REQUIRE(list.size() == rank, "{}: [{}] for {}", op.name, fmt::join(list, ","), x.shape());
    return list;
  };
  HUM_REQUIRE(options.size.size() == rank, "{}: a window [{}] for {}", op.name,
              fmt::join(options.size, ","), x.shape());
  return NodeBuilder{.op = op,
                     .inputs = {x},
                     .attributes = {{"size", options.size},
                                    {"strides", filled(options.strides, 1)},
                                    {"padding_low", filled(options.padding_low, 0)},
                                    {"padding_high", filled(options.padding_high, 0)}},
                     .where = where}
      .value();
}

}  // namespace

const OpDef kReduceWindowSumOp = {"reduce_window_sum",
                                  infer_reduce_window,
                                  place_reduce_window,
                                  sum_vjp,
                                  print_sum,
                                  window_cost,
                                  {.memory = MemoryClass::kOpaque, .elementwise = false}};
const OpDef kReduceWindowMaxOp = {"reduce_window_max",
                                  infer_reduce_window,
                                  place_reduce_window,
                                  max_vjp,
                                  print_max,
                                  window_cost,
                                  {.memory = MemoryClass::kOpaque, .elementwise = false}};

Value reduce_window_sum(const Value& x, WindowOptions options, std::source_location where) {
  return reduce_window(kReduceWindowSumOp, x, std::move(options), where);
}

Value reduce_window_max(const Value& x, WindowOptions options, std::source_location where) {
  return reduce_window(kReduceWindowMaxOp, x, std::move(options), where);
}

}  // namespace hum::graph
