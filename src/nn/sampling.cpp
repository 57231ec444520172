#include "nn/sampling.h"

#include "base/error.h"
#include "graph/ops.h"

namespace hum::nn {

using graph::convert;
using graph::DType;
using graph::Value;

namespace {

// One value per row, broadcast over the row's logits.
Value beside_rows(const Value& x) { return x.rank() == 1 ? graph::reshape(x, {x.size(0), 1}) : x; }

}  // namespace

Value keep_likely(const Value& logits_BV, const Value& top_k, const Value& top_p) {
  const int64_t size = logits_BV.size(1);
  const Value sorted = graph::top_k(logits_BV, size).values;  // all, in descending order
  const Value probabilities = graph::softmax(sorted, 1);
  const Value before = graph::cumulative_sum(probabilities, 1) - probabilities;
  const Value rank = graph::iota({DType::kI32, logits_BV.dims()}, 1);
  // The most likely token is always kept.
  const Value kept = ((rank < beside_rows(top_k)) & (before < beside_rows(top_p))) | equal(rank, 0);
  const Value border = graph::reduce_min(graph::select(kept, sorted, 1e30), {1}, /*keepdims=*/true);
  return graph::select(logits_BV >= border, logits_BV, -1e30);
}

Value sample(const Value& logits_BV, const SamplingInputs& inputs) {
  const Value scaled = logits_BV / beside_rows(graph::maximum(inputs.temperature, 1e-4));
  const Value noise = graph::gumbel(logits_BV.shape(), inputs.key);
  const Value drawn = graph::argmax(keep_likely(scaled, inputs.top_k, inputs.top_p) + noise, 1);
  return graph::select(inputs.temperature > 0, drawn, graph::argmax(logits_BV, 1));
}

Value guide(const graph::Values& logits, const graph::Values& scales) {
  HUM_REQUIRE(logits.size() == scales.size() + 1, "guide: {} logits for {} scales", logits.size(),
              scales.size());
  Value sum = logits[0];
  for (size_t i = 0; i < scales.size(); ++i) {
    sum = sum + (logits[i + 1] - logits[i]) * beside_rows(scales[i]);
  }
  return sum;
}

}  // namespace hum::nn
