// Generation with the coarse LM: the prefix once, then one step per frame with the key-value cache
// and sampling inside the program. Rows of the decoder's batch: all items without conditions, then
// all items with more conditions, in the order of nn::guide.
#include "models/humming/coarse.h"
#include "nn/sampling.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

// The conditions of an item's rows.
struct Knowledge {
  std::vector<float> melody, timbre;  // 1: given
  int64_t size() const { return std::ssize(melody); }
};

Knowledge knowledge_of(const Coarse::Sampling& sampling) {
  if (sampling.timbre_guidance_B) return {.melody = {0, 0, 1}, .timbre = {0, 1, 1}};
  return {.melody = {0, 1}, .timbre = {0, 1}};
}

// Repeats x along the batch: [x; x; ...].
Value repeated(const Value& x, int64_t times) {
  return graph::concatenate(graph::Values(static_cast<size_t>(times), x), 0);
}

// Repeats each flag for all items. Shapes: -> f32[flags B].
Value flags_of_rows(const std::vector<float>& flags, int64_t items) {
  std::vector<float> rows;
  for (const float flag : flags) rows.insert(rows.end(), static_cast<size_t>(items), flag);
  return graph::constant(std::span<const float>(rows), {std::ssize(rows)});
}

Conditions conditions_of_rows(const Conditions& items, const Knowledge& known) {
  const int64_t times = known.size(), batch = items.melody_BTM.size(0);
  return {.melody_BTM = repeated(items.melody_BTM, times),
          .reference_BSD = repeated(items.reference_BSD, times),
          .reference_frames_B = repeated(items.reference_frames_B, times),
          .has_melody_B = flags_of_rows(known.melody, batch),
          .has_timbre_B = flags_of_rows(known.timbre, batch),
          .draft_BTD = items.draft_BTD ? repeated(items.draft_BTD, times) : Value{}};
}

// The scales of nn::guide for book `book` in step `index`.
graph::Values scales_of(const Coarse::Sampling& sampling, const Value& frame) {
  const Value guided = frame < sampling.guided_frames_B;
  graph::Values scales;
  for (const Value& scale : {sampling.timbre_guidance_B, sampling.melody_guidance_B}) {
    if (scale) scales.push_back(graph::select(guided, scale, 1.0));
  }
  return scales;
}

// Samples one token per item. Shapes: logits of all rows [rows,1,V] -> i32[B].
Value draw(const Value& logits, int64_t entries, const Coarse::Sampling& sampling,
           const Value& index, int64_t book) {
  const int64_t batch = sampling.key_B2.size(0);
  const Value real = graph::slice_in_dim(logits, 2, 0, entries);
  graph::Values of_knowledge;
  for (int64_t row = 0; row < real.size(0); row += batch) {
    of_knowledge.push_back(
        graph::reshape(graph::slice_in_dim(real, 0, row, row + batch), {batch, entries}));
  }
  return nn::sample(nn::guide(of_knowledge, scales_of(sampling, index - book)),
                    {.key = graph::fold_in(graph::fold_in(sampling.key_B2, index), book),
                     .temperature = sampling.temperature_B,
                     .top_k = sampling.top_k_B,
                     .top_p = sampling.top_p_B});
}

}  // namespace

Value Coarse::next_tokens(const graph::Values& logits, const Sampling& sampling,
                          const Value& index) const {
  const int64_t batch = sampling.key_B2.size(0);
  graph::Values tokens;
  for (int64_t k = 0; k < config_.coarse_books; ++k) {
    const Value token =
        draw(logits[static_cast<size_t>(k)], config_.common.entries, sampling, index, k);
    // Book k begins at step k and ends k steps later.
    const Value live = (index >= k) & (index < sampling.frames_B + k);
    const auto start = static_cast<int>(config_.vocabulary - 1);
    tokens.push_back(graph::reshape(graph::select(live, token, start), {batch, 1, 1}));
  }
  return graph::concatenate(tokens, 2);
}

Value Coarse::undelayed(const Value& tokens_BLK) const {
  const int64_t frames = tokens_BLK.size(1) - (config_.coarse_books - 1);
  graph::Values books;
  for (int64_t k = 0; k < config_.coarse_books; ++k) {
    const Value book = graph::slice_in_dim(tokens_BLK, 2, k, k + 1);
    books.push_back(graph::slice_in_dim(book, 1, k, k + frames));
  }
  return graph::concatenate(books, 2);
}

Value Coarse::generate(const Conditions& conditions, const Sampling& sampling,
                       DType compute) const {
  const Knowledge known = knowledge_of(sampling);
  const ConditionedSteps conditioned =
      conditioning_->apply(conditions_of_rows(conditions, known), compute, {});
  const int64_t batch = conditions.melody_BTM.size(0), rows = batch * known.size();
  const int64_t books = config_.coarse_books, prefix = conditioned.prefix_BPW.size(1),
                steps = conditioned.steps_BLW.size(1);
  const Value zero = graph::constant(0, {DType::kI32, {}});
  const auto start = transformer_.step(conditioned.prefix_BPW,
                                       transformer_.empty_cache(rows, prefix + steps, compute),
                                       zero, conditioned.key_mask_BX);
  const double start_token = static_cast<double>(config_.vocabulary - 1);
  // Carry: step index, tokens so far [B,L,K], last tokens [B,1,K], keys..., values...
  graph::Values carry = {zero, graph::constant(start_token, {DType::kI32, {batch, steps, books}}),
                         graph::constant(start_token, {DType::kI32, {batch, 1, books}})};
  const auto layers = static_cast<long>(config_.transformer.layers);
  carry.insert(carry.end(), start.cache.keys.begin(), start.cache.keys.end());
  carry.insert(carry.end(), start.cache.values.begin(), start.cache.values.end());

  auto body = [&](std::span<const Value> in) {
    const Value& index = in[0];
    const auto caches = in.subspan(3);
    const nn::KeyValueCache cache{{caches.begin(), caches.begin() + layers},
                                  {caches.begin() + layers, caches.end()}};
    const Value told = graph::dynamic_slice(conditioned.steps_BLW, {zero, index, zero},
                                            {rows, 1, config_.transformer.width});
    const Value x = embed(repeated(in[2], known.size()), compute) + told;
    const auto next = transformer_.step(x, cache, index + prefix, conditioned.key_mask_BX);
    const Value last = next_tokens(heads(next.y_BTD), sampling, index);
    graph::Values out = {index + 1, graph::dynamic_update_slice(in[1], last, {zero, index, zero}),
                         last};
    out.insert(out.end(), next.cache.keys.begin(), next.cache.keys.end());
    out.insert(out.end(), next.cache.values.begin(), next.cache.values.end());
    return out;
  };
  const Value end = graph::reduce_max(sampling.frames_B, {0}) + (books - 1);
  auto running = [&](std::span<const Value> in) { return in[0] < end; };
  return undelayed(graph::while_loop(carry, running, body)[1]);
}

}  // namespace hum::models::humming
