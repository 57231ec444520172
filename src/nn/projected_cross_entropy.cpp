#include "nn/projected_cross_entropy.h"

#include <algorithm>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/matmul/matmul.h"

namespace hum::nn {

using graph::Value;

int64_t rows_at_once(int64_t rows, int64_t vocabulary) {
  constexpr int64_t kMostLogits = int64_t{16} << 20;
  int64_t most = std::clamp<int64_t>(kMostLogits / std::max<int64_t>(vocabulary, 1), 1, rows);
  while (rows % most != 0) --most;
  return most;
}

graph::Value projected_cross_entropy(const Value& x_NW, const Value& weight_VW,
                                     const Value& targets_N, int64_t rows,
                                     std::source_location where) {
  const bool fits = x_NW.rank() == 2 && weight_VW.rank() == 2 && targets_N.rank() == 1 &&
                    x_NW.size(1) == weight_VW.size(1) && x_NW.size(0) == targets_N.size(0);
  if (!fits || rows < 1 || x_NW.size(0) % rows != 0) {
    fail(ExitCode::kFailure,
         fmt::format("projected_cross_entropy: x {}, weight {}, targets {}, {} rows at once do not "
                     "fit: want x[N,W], weight[V,W], targets[N], rows dividing N",
                     x_NW.shape(), weight_VW.shape(), targets_N.shape(), rows),
         "", where);
  }
  const auto logits_of = [&](const Value& x) {
    // Narrowed here, so that the gradients of all parts are summed in f32.
    return kernels::matmul(x, graph::convert(weight_VW, x.dtype()),
                           {.transpose_rhs = true, .result = graph::DType::kF32});
  };
  const int64_t parts = x_NW.size(0) / rows;
  // A scan over one part would save nothing: XLA keeps its logits for the backward pass.
  if (parts == 1) return graph::softmax_cross_entropy(logits_of(x_NW), targets_N);
  const graph::Values xs = {graph::reshape(x_NW, {parts, rows, x_NW.size(1)}),
                            graph::reshape(targets_N, {parts, rows})};
  const auto body = [&](const graph::ScanStep& step) {
    const Value logits = logits_of(step.xs[0]);
    // Not one cross-entropy op: this way the backward pass, which recomputes the logits, does not
    // read the label's.
    const Value losses = graph::logsumexp(logits, {1}) - graph::label_logits(logits, step.xs[1]);
    return graph::ScanResult{{}, {losses}};
  };
  const auto result =
      graph::scan(parts, {}, xs, body, {.gradient = graph::ScanGradient::kRecompute}, where);
  return graph::reshape(result.ys[0], {x_NW.size(0)});
}

}  // namespace hum::nn
