#include "plan/memory.h"

#include <algorithm>

namespace hum::plan {

using graph::RecomputePolicy;

namespace {

// Bytes that one block keeps for its backward pass, of one micro-batch.
double block_activations(const Transformer& model, const Layout& layout) {
  const double h = static_cast<double>(model.hidden), t = static_cast<double>(layout.tp);
  const double elements =
      static_cast<double>(layout.micro_batch) * static_cast<double>(model.sequence) * h;
  const double replicated = layout.sequence_parallel ? 10 / t : 10;
  const double widths = static_cast<double>(model.ffn_width()) / h;
  const double grouped =
      static_cast<double>(model.key_value_heads()) / static_cast<double>(model.heads);
  const double split = (4 + 4 * grouped + (model.gated ? 6 : 4) * widths) / t;
  const double scores = 5 * static_cast<double>(model.heads * model.sequence) / h / t;
  switch (layout.recompute) {
    case RecomputePolicy::kFull:
      return elements * 2 / (layout.sequence_parallel ? t : 1);
    case RecomputePolicy::kSelective:
      return elements * (replicated + split);
    case RecomputePolicy::kNone:
      break;
  }
  return elements * (replicated + split + (layout.flash_attention ? 0 : scores));
}

// Micro-batches' worth of a whole stage that the first stage holds at once.
double in_flight(const Layout& layout) {
  const double p = static_cast<double>(layout.pp), v = static_cast<double>(layout.chunks());
  const double held = v > 1 ? p * (1 + (p - 1) / (p * v)) : p;
  return std::min(held, static_cast<double>(layout.micro_batches()));
}

}  // namespace

double parameters_per_device(const Transformer& model, const Layout& layout) {
  const double p = static_cast<double>(layout.pp);
  const double embeddings = static_cast<double>(model.vocab * model.hidden) *
                            (layout.pp == 1 && !model.tied_embeddings ? 2 : 1);
  return (static_cast<double>(model.layers) / p * model.block_parameters() + embeddings) /
         static_cast<double>(layout.tp);
}

Memory memory_per_device(const Transformer& model, const Layout& layout) {
  const double parameters = parameters_per_device(model, layout);
  const double tokens = static_cast<double>(layout.micro_batch * model.sequence);
  const double split = layout.distributed_optimizer ? static_cast<double>(layout.dp) : 1;
  Memory memory{
      .weights = 2 * parameters, .gradients = 4 * parameters, .optimizer = 12 * parameters / split};
  const double block = block_activations(model, layout);
  memory.activations = in_flight(layout) * static_cast<double>(model.layers / layout.pp) * block;
  if (layout.recompute == RecomputePolicy::kFull) {  // the block that is computed again
    Layout one = layout;
    one.recompute = RecomputePolicy::kNone;
    memory.activations += block_activations(model, one);
  }
  // 16-bit and f32, on the last stage; beside the embeddings only without a pipeline.
  if (layout.pp == 1)
    memory.logits = 6 * tokens * static_cast<double>(model.vocab) / static_cast<double>(layout.tp);
  return memory;
}

}  // namespace hum::plan
