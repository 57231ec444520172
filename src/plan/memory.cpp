#include "plan/memory.h"

#include <algorithm>

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

// `elements`: of one micro-batch's hidden states. The other members are sizes relative to these or
// to the width.
struct Sizes {
  double elements, t;
  double rows;     // parts that the hidden states between products split into
  double widths;   // of the MLP's inner arrays
  double grouped;  // of keys, and of values
  double scores;   // of one score matrix, all heads
  Sizes(const Transformer& model, const Layout& layout)
      : elements(static_cast<double>(layout.micro_batch * model.sequence * model.hidden)),
        t(static_cast<double>(layout.tp)),
        rows(layout.sequence_parallel ? t : 1),
        widths(static_cast<double>(model.ffn_width()) / static_cast<double>(model.hidden)),
        grouped(static_cast<double>(model.key_value_heads()) / static_cast<double>(model.heads)),
        scores(static_cast<double>(model.heads * model.sequence) /
               static_cast<double>(model.hidden)) {}
};

// Scores (16 bit), their softmax and the dropout mask, in bytes per element of the hidden states.
double kept_scores(const Sizes& sizes) { return 5 * sizes.scores / sizes.t; }

// Bytes that one block keeps for its backward pass, per micro-batch.
double block_activations(const Transformer& model, const Layout& layout) {
  const Sizes sizes(model, layout);
  const double replicated = 10 / sizes.rows;
  const double split = (4 + 4 * sizes.grouped + (model.gated ? 6 : 4) * sizes.widths) / sizes.t;
  switch (layout.recompute) {
    case RecomputePolicy::kFull:
      return sizes.elements * 2 / sizes.rows;
    case RecomputePolicy::kSelective:
      return sizes.elements * (replicated + split);
    case RecomputePolicy::kNone:
      break;
  }
  return sizes.elements * (replicated + split + (layout.flash_attention ? 0 : kept_scores(sizes)));
}

// Bytes that a block's backward pass needs at most, besides the kept arrays: the cotangent of the
// hidden states, and those inside the MLP (operands and results of the inner product) or inside
// attention (its result, queries, keys and values; then FlashAttention's sum, or scores and
// softmax).
double block_temporaries(const Transformer& model, const Layout& layout) {
  const Sizes sizes(model, layout);
  const double mlp = (model.gated ? 6 : 4) * sizes.widths / sizes.t;
  double attention = (4 + 4 * sizes.grouped) / sizes.t;
  attention += (layout.flash_attention ? 4 : 4 * sizes.scores) / sizes.t;
  const bool again = layout.recompute == RecomputePolicy::kSelective && !layout.flash_attention;
  if (again) attention += kept_scores(sizes);
  return sizes.elements * (2 / sizes.rows + std::max(mlp, attention));
}

// With sequence parallelism: the gathered input of a product, and its gradient before the
// reduce-scatter. With a pipeline: the gradient that the next stage sends.
double collective_buffers(const Transformer& model, const Layout& layout) {
  const Sizes sizes(model, layout);
  const double gathered = layout.sequence_parallel && layout.tp > 1 ? 4 : 0;
  const double received = layout.pp > 1 ? 2 / sizes.rows : 0;
  return sizes.elements * (gathered + received);
}

// Micro-batches in flight on the first stage (fractional with interleaving: in whole stages).
double in_flight(const Layout& layout) {
  const double p = static_cast<double>(layout.pp), v = static_cast<double>(layout.chunks());
  const double held = v > 1 ? p * (1 + (p - 1) / (p * v)) : p;
  return std::min(held, static_cast<double>(layout.micro_batches()));
}

}  // namespace

double parameters_per_device(const Transformer& model, const Layout& layout) {
  const Stages stages = stages_of(model, layout);
  const double blocks = static_cast<double>(stages.blocks) * model.block_parameters();
  const double embeddings = static_cast<double>(model.vocab * model.hidden) *
                            (layout.pp == 1 && !model.tied_embeddings ? 2 : 1);
  const double first = blocks + embeddings - (stages.short_first ? model.block_parameters() : 0);
  return std::max(first, blocks) / static_cast<double>(layout.tp);
}

Memory memory_per_device(const Transformer& model, const Layout& layout) {
  const double parameters = parameters_per_device(model, layout);
  const double tokens = static_cast<double>(layout.micro_batch * model.sequence);
  const double split = layout.distributed_optimizer ? static_cast<double>(layout.dp) : 1;
  Memory memory{
      .weights = 2 * parameters, .gradients = 4 * parameters, .optimizer = 12 * parameters / split};
  const auto blocks = static_cast<double>(stages_of(model, layout).blocks);
  memory.activations = in_flight(layout) * blocks * block_activations(model, layout);
  if (layout.recompute == RecomputePolicy::kFull) {  // the recomputed block
    Layout one = layout;
    one.recompute = RecomputePolicy::kNone;
    memory.activations += block_activations(model, one);
  }
  // 16-bit and f32, on the last stage; the first stage has them only without a pipeline.
  if (layout.pp == 1)
    memory.logits = 6 * tokens * static_cast<double>(model.vocab) / static_cast<double>(layout.tp);
  memory.temporaries = std::max(0.0, block_temporaries(model, layout) - memory.logits);
  memory.collectives = collective_buffers(model, layout);
  return memory;
}

}  // namespace hum::plan
