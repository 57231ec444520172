// rfft and irfft: StableHLO's fft if the platform has it, otherwise products with a table of
// cosines and sines. Both are exact up to rounding.
#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.h"
#include "graph/op.h"
#include "graph/ops/dot.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/fft_impl.h"
#include "graph/ops/ops_impl.h"
#include "graph/ops/shape_ops.h"
#include "graph/ops/spectral.h"
#include "graph/ops/table.h"
#include "graph/stablehlo/print.h"

namespace hum::graph {
namespace {

using Cotangents = std::span<const Value>;

bool is_edge(int64_t bin, int64_t n) { return bin == 0 || 2 * bin == n; }

// Bins that represent two of the full transform (all but the edges) get `inner`, the others `edge`.
Value bin_weights(int64_t n, double edge, double inner) {
  std::vector<float> weights;
  for (int64_t bin = 0; bin <= n / 2; ++bin) {
    weights.push_back(static_cast<float>(is_edge(bin, n) ? edge : inner));
  }
  return constant(std::span<const float>(weights), {n / 2 + 1});
}

Shape with_last(const Shape& shape, int64_t size) {
  Shape result = shape;
  result.dims.back() = size;
  return result;
}

Shapes infer_rfft(const Node& node) {
  const Shape& x = node.input(0).shape();
  HUM_REQUIRE(x.dtype == DType::kF32 && x.rank() >= 1 && x.size(-1) >= 2,
              "rfft: needs f32 with at least 2 samples in the last dim, not {}", x);
  const Shape bins = with_last(x, x.size(-1) / 2 + 1);
  return {bins, bins};
}

Shapes infer_irfft(const Node& node) {
  const Shape &real = node.input(0).shape(), &imag = node.input(1).shape();
  const int64_t n = node.attributes().get<int64_t>("n");
  HUM_REQUIRE(real == imag && real.dtype == DType::kF32 && real.rank() >= 1,
              "irfft: needs two f32 of one shape, not {} and {}", real, imag);
  HUM_REQUIRE(n >= 2 && real.size(-1) == n / 2 + 1,
              "irfft: {} samples have {} bins, not {} as in {}", n, n / 2 + 1, real.size(-1), real);
  return {with_last(real, n)};
}

std::vector<Placement> place_fft(const Node& node) {
  for (const Value& input : node.inputs()) {
    require_uncut(node.op().name, input, {input.rank() - 1}, "and the transform needs all of it");
  }
  return place_linear(node);
}

Values rfft_vjp(const Node& node, Cotangents cotangents) {
  const int64_t n = node.input(0).size(-1);
  const auto whole = [&](int i) {
    const Value& c = cotangents[static_cast<size_t>(i)];
    return c ? c : zeros_like(node.output(i));
  };
  const Value weights = bin_weights(n, static_cast<double>(n), static_cast<double>(n) / 2);
  return {irfft(whole(0) * weights, whole(1) * weights, n, node.where())};
}

Values irfft_vjp(const Node& node, Cotangents cotangents) {
  const int64_t n = node.attributes().get<int64_t>("n");
  const Value weights = bin_weights(n, 1 / static_cast<double>(n), 2 / static_cast<double>(n));
  const auto [real, imag] = rfft(cotangents[0], node.where());
  return {real * weights, imag * weights};
}

std::string complex_type(const Shape& shape) {
  std::string text = type_text(shape);
  text.replace(text.rfind("f32"), 3, "complex<f32>");
  return text;
}

std::string fft_text(const std::string& operand, const char* kind, int64_t n,
                     const std::string& from, const std::string& to) {
  return fmt::format(
      "\"stablehlo.fft\"({}) {{fft_type = #stablehlo<fft_type {}>, fft_length = array<i64: {}>}} "
      ": ({}) -> {}",
      operand, kind, n, from, to);
}

// Column k holds cos (or -sin) of 2 pi k t / n: rfft as a product. Computed in double from k t mod
// n, so that large angles lose no precision.
Value dft_table(int64_t n, bool sines) {
  std::vector<float> table;
  table.reserve(static_cast<size_t>(n * (n / 2 + 1)));
  for (int64_t t = 0; t < n; ++t) {
    for (int64_t bin = 0; bin <= n / 2; ++bin) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(t * bin % n) / static_cast<double>(n);
      table.push_back(static_cast<float>(sines ? -std::sin(angle) : std::cos(angle)));
    }
  }
  return constant(std::span<const float>(table), {n, n / 2 + 1});
}

// Prints `results`, computed by other ops from the node's inputs, in place of the node.
void print_as(Printer& out, const Node& node, const std::function<Values(Cotangents)>& build) {
  const TracedRegion traced = trace_region(node.inputs(), build);
  out.inline_body(node, traced.region, node.inputs());
}

void print_rfft(Printer& out, const Node& node) {
  const Shape &from = node.input(0).shape(), &to = node.shapes()[0];
  const int64_t n = from.size(-1);
  if (!out.lowering().has_fft) {
    return print_as(out, node, [](Cotangents in) {
      const auto [real, imag] = rfft_as_products(in[0]);
      return Values{real, imag};
    });
  }
  const std::string bins =
      out.emit(fft_text(out.operand(node.input(0)), "RFFT", n, type_text(from), complex_type(to)));
  const auto part = [&](int i, const char* op) {
    out.alias(node.output(i), out.emit(fmt::format("stablehlo.{} {} : ({}) -> {}", op, bins,
                                                   complex_type(to), type_text(to))));
  };
  part(0, "real");
  part(1, "imag");
}

void print_irfft(Printer& out, const Node& node) {
  const Shape &from = node.input(0).shape(), &to = node.shapes()[0];
  const int64_t n = to.size(-1);
  if (!out.lowering().has_fft) {
    return print_as(out, node,
                    [n](Cotangents in) { return Values{irfft_as_products(in[0], in[1], n)}; });
  }
  const std::string bins =
      out.emit(fmt::format("stablehlo.complex {} : ({}) -> {}", out.operands(node.inputs()),
                           Printer::types(node.inputs()), complex_type(from)));
  out.define(node, fft_text(bins, "IRFFT", n, complex_type(from), type_text(to)));
}

// The usual cost of a real transform, 5/2 n log2 n.
Cost fft_cost(const Node& node) {
  const Shape& signal = &node.op() == &kRfftOp ? node.input(0).shape() : node.shapes()[0];
  const double flops = 2.5 * static_cast<double>(signal.elements()) *
                       std::log2(static_cast<double>(signal.size(-1)));
  return {flops, bytes_touched(node)};
}

}  // namespace

const OpDef kRfftOp = {"rfft",
                       infer_rfft,
                       place_fft,
                       rfft_vjp,
                       print_rfft,
                       fft_cost,
                       {.memory = MemoryClass::kOpaque, .elementwise = false}};
const OpDef kIrfftOp = {"irfft",
                        infer_irfft,
                        place_fft,
                        irfft_vjp,
                        print_irfft,
                        fft_cost,
                        {.memory = MemoryClass::kOpaque, .elementwise = false}};

Spectrum rfft_as_products(const Value& x) {
  const int64_t n = x.size(-1);
  return {matmul(x, dft_table(n, false)), matmul(x, dft_table(n, true))};
}

Value irfft_as_products(const Value& real, const Value& imag, int64_t n) {
  const Value weights = bin_weights(n, 1 / static_cast<double>(n), 2 / static_cast<double>(n));
  const auto back = [&](const Value& bins, bool sines) {
    return matmul(bins * weights, dft_table(n, sines), {.transpose_rhs = true});
  };
  return back(real, false) + back(imag, true);
}

Spectrum rfft(const Value& x, std::source_location where) {
  const auto node = NodeBuilder{.op = kRfftOp, .inputs = {x}, .where = where}.build();
  return {node->output(0), node->output(1)};
}

Value irfft(const Value& real, const Value& imag, int64_t n, std::source_location where) {
  return NodeBuilder{
      .op = kIrfftOp, .inputs = {real, imag}, .attributes = {{"n", n}}, .where = where}
      .value();
}

}  // namespace hum::graph
