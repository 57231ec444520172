// Generation with the coarse LM: prefix once, then one step a frame against the key-value cache,
// sampling inside the program. Rows of the batch: 0 conditioned, 1 unconditioned (classifier-free
// guidance).
#include "models/humming/coarse.h"
#include "nn/sampling.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

// [x; x] along the batch.
Value twice(const Value& x) { return graph::concatenate({x, x}, 0); }

Value row(const Value& x, int64_t index) { return graph::slice_in_dim(x, 0, index, index + 1); }

}  // namespace

Value Coarse::generate(const Conditions& one, const Sampling& sampling, DType compute) const {
  const std::vector<float> given = {1, 0};
  const Value flags = graph::constant(std::span<const float>(given), {2});
  const ConditionedSteps conditioned =
      conditioning_->apply({.melody_BTM = twice(one.melody_BTM),
                            .reference_BSD = twice(one.reference_BSD),
                            .reference_frames_B = twice(one.reference_frames_B),
                            .has_melody_B = flags,
                            .has_timbre_B = flags,
                            .draft_BTD = one.draft_BTD ? twice(one.draft_BTD) : Value{}},
                           compute, {});
  const int64_t frames = one.melody_BTM.size(1), books = config_.coarse_books;
  const int64_t prefix = conditioned.prefix_BPW.size(1), steps = conditioned.steps_BLW.size(1);
  const Value zero = graph::constant(0, {DType::kI32, {}});
  const auto start = transformer_.step(conditioned.prefix_BPW,
                                       transformer_.empty_cache(2, prefix + steps, compute), zero,
                                       conditioned.key_mask_BX);
  const double start_token = static_cast<double>(config_.vocabulary - 1);
  // Carry: step index, tokens so far [1,L,K], last tokens [1,1,K], keys..., values...
  graph::Values carry = {zero, graph::constant(start_token, {DType::kI32, {1, steps, books}}),
                         graph::constant(start_token, {DType::kI32, {1, 1, books}})};
  const auto layers = static_cast<size_t>(config_.transformer.layers);
  carry.insert(carry.end(), start.cache.keys.begin(), start.cache.keys.end());
  carry.insert(carry.end(), start.cache.values.begin(), start.cache.values.end());

  auto body = [&](std::span<const Value> in) {
    const Value& index = in[0];
    const auto caches = in.subspan(3);
    const nn::KeyValueCache cache{{caches.begin(), caches.begin() + static_cast<long>(layers)},
                                  {caches.begin() + static_cast<long>(layers), caches.end()}};
    const Value melody = graph::dynamic_slice(conditioned.steps_BLW, {zero, index, zero},
                                              {2, 1, config_.transformer.width});
    const Value x = embed(twice(in[2]), compute) + melody;
    const auto next = transformer_.step(x, cache, index + prefix, conditioned.key_mask_BX);
    graph::Values tokens;
    const graph::Values all = heads(next.y_BTD);
    for (int64_t k = 0; k < books; ++k) {
      const Value pair = graph::reshape(
          graph::slice_in_dim(all[static_cast<size_t>(k)], 2, 0, config_.common.entries),
          {2, config_.common.entries});
      const Value with = row(pair, 0), without = row(pair, 1);
      const Value guided = without + (with - without) * sampling.guidance;
      const Value token =
          nn::sample(guided, {.key = graph::fold_in(graph::fold_in(sampling.key, index), k),
                              .temperature = sampling.temperature,
                              .top_k = sampling.top_k,
                              .top_p = sampling.top_p});
      // Book k begins at step k and ends `books - 1 - k` steps before the last.
      const Value live = (index >= k) & (index < frames + k);
      tokens.push_back(
          graph::reshape(graph::select(live, token, static_cast<int>(start_token)), {1, 1, 1}));
    }
    const Value last = graph::concatenate(tokens, 2);
    graph::Values out = {index + 1, graph::dynamic_update_slice(in[1], last, {zero, index, zero}),
                         last};
    out.insert(out.end(), next.cache.keys.begin(), next.cache.keys.end());
    out.insert(out.end(), next.cache.values.begin(), next.cache.values.end());
    return out;
  };
  const Value end = sampling.frames + (steps - frames);
  auto running = [&](std::span<const Value> in) { return in[0] < end; };
  const Value delayed_1LK = graph::while_loop(carry, running, body)[1];
  graph::Values undelayed;
  for (int64_t k = 0; k < books; ++k) {
    const Value book = graph::slice_in_dim(delayed_1LK, 2, k, k + 1);
    undelayed.push_back(graph::slice_in_dim(book, 1, k, k + frames));
  }
  return graph::concatenate(undelayed, 2);
}

}  // namespace hum::models::humming
