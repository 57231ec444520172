#include "kernels/polar/polar.h"

#include "base/error.h"
#include "graph/ops/custom_call.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/shape_ops.h"
#include "kernels/table.h"

namespace hum::kernels {
namespace {

using graph::DType;
using graph::Value;
using graph::Values;

struct Parts {
  explicit Parts(const Value& x) {
    const Value wide = graph::convert(x, DType::kF32);
    const int64_t bins = x.size(-1) / 2, dim = x.rank() - 1;
    level = graph::slice_in_dim(wide, dim, 0, bins);
    phase = graph::slice_in_dim(wide, dim, bins, 2 * bins);
  }
  Value level, phase;
};

Values plain(const Value& x, double max_level) {
  const Parts in(x);
  const Value size = graph::exponential(graph::minimum(in.level, max_level));
  return {size * graph::cosine(in.phase), size * graph::sine(in.phase)};
}

// Takes the inputs of kPolarGradKernel.
Value plain_gradient(std::span<const Value> in, double max_level) {
  const Value &real = in[1], &imag = in[2], &dreal = in[3], &dimag = in[4];
  const Value dlevel =
      graph::select(Parts(in[0]).level < max_level, dreal * real + dimag * imag, 0);
  const Value dphase = dimag * real - dreal * imag;
  return graph::convert(graph::concatenate({dlevel, dphase}, in[0].rank() - 1), in[0].dtype());
}

}  // namespace

graph::Spectrum polar(const Value& x, double max_level, std::source_location where) {
  if (!graph::is_float(x.dtype()) || x.rank() < 1 || x.size(-1) % 2 != 0) {
    fail(ExitCode::kFailure,
         fmt::format("polar: {} does not hold as many levels as phases", x.shape()), "", where);
  }
  graph::Attributes settings;
  settings.set("max_level", max_level);
  const auto vjp = [=](std::span<const Value> inputs, std::span<const Value> results,
                       std::span<const Value> cotangents) {
    const auto or_zeros = [&](size_t i) {
      return cotangents[i] ? cotangents[i] : graph::zeros_like(results[i]);
    };
    return graph::custom_call(
        kPolarGradKernel.call.name,
        Values{inputs[0], results[0], results[1], or_zeros(0), or_zeros(1)}, settings,
        [max_level](std::span<const Value> in) { return Values{plain_gradient(in, max_level)}; },
        {}, where);
  };
  const Values result = graph::custom_call(
      kPolarKernel.call.name, Values{x}, settings,
      [max_level](std::span<const Value> in) { return plain(in[0], max_level); }, {.vjp = vjp},
      where);
  return {result[0], result[1]};
}

}  // namespace hum::kernels
