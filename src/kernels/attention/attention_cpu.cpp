#include "graph/ops/custom_call.h"
#include "kernels/attention/attention_cpu_impl.h"
#include "kernels/cpu_features.h"
#include "kernels/simd.h"

namespace hum::kernels {
namespace {

using simd::kLanes;

template <typename Floats>
HUM_INLINE void widen_body(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) simd::store(to + i, simd::load<Floats>(from + i));
}
HUM_SIMD_FUNCTION(widen, (const uint16_t* from, float* to, int64_t count), (from, to, count))

template <typename Floats>
HUM_INLINE void scale_scores_body(float* scores, int64_t count, float scale) {
  for (int64_t i = 0; i < count; i += kLanes)
    simd::store(scores + i, simd::load<Floats>(scores + i) * scale);
}
HUM_SIMD_FUNCTION(scale_scores, (float* scores, int64_t count, float scale), (scores, count, scale))

template <typename Floats>
HUM_INLINE void mask_scores_body(const ScoreBlock& block, float scale, bool causal, int32_t window,
                                 const float* key_mask) {
  using Ints = simd::IntsOf<Floats>;
  const auto lane = simd::lane_numbers<Ints>();
  const auto unseen = simd::broadcast<Floats>(kUnseen);
  for (int64_t s = 0; s < block.keys; ++s) {
    const auto key = static_cast<int32_t>(block.first_key + s);
    float* row = block.scores + s * kQueryBlock;
    const bool hidden = key_mask != nullptr && !(key_mask[key] > 0);
    for (int64_t c = 0; c < kQueryBlock; c += kLanes) {
      const Ints own = lane + static_cast<int32_t>(block.first_position + c);
      Floats x = simd::load<Floats>(row + c) * scale;
      if (causal) x = simd::select(own < key, unseen, x);
      if (window > 0) x = simd::select(own - window >= key, unseen, x);
      simd::store(row + c, hidden ? unseen : x);
    }
  }
}
HUM_SIMD_FUNCTION(mask_scores,
                  (const ScoreBlock& block, float scale, bool causal, int32_t window,
                   const float* key_mask),
                  (block, scale, causal, window, key_mask))

template <typename Floats, typename T>
HUM_INLINE void write_body(const float* from, float factor, int64_t count, T* to) {
  for (int64_t i = 0; i < count; i += kLanes)
    simd::store(to + i, simd::load<Floats>(from + i) * factor);
}
HUM_SIMD_FUNCTION(write, (const float* from, float factor, int64_t count, float* to),
                  (from, factor, count, to))
HUM_SIMD_FUNCTION(write, (const float* from, float factor, int64_t count, uint16_t* to),
                  (from, factor, count, to))

void clear(uint32_t* from, uint32_t* to) { std::fill(from, to, 0U); }

}  // namespace

AttentionProblem::AttentionProblem(const pjrt::ffi::Call& call, int extras) {
  const auto attributes = call.attributes();
  joined = attributes.flag("joined");
  const auto q = call.argument(0), k = call.argument(joined ? 0 : 1);
  batch = q.size(0);
  queries = q.size(1);
  keys = k.size(1);
  groups = k.size(2);
  heads = joined ? groups * (q.size(3) - 2) : q.size(2);
  head = q.size(-1);
  extras += tensors();
  scale = static_cast<float>(attributes.real("scale"));
  causal = attributes.flag("causal");
  window = attributes.integer("window");
  if (attributes.flag("has_mask")) key_mask = call.argument(extras++).as<const float>().data();
  first =
      attributes.flag("has_first") ? call.argument(extras).as<const int32_t>()[0] : keys - queries;
  const bool pairs = q.is_bf16() && chosen_isa() >= Isa::kAvx512Bf16;
  word = pairs ? Word::kBF16Pair : Word::kF32;
}

AttentionProblem::Range AttentionProblem::visible_keys(int64_t query) const {
  if (!causal) return {0, keys};
  const int64_t last = first + std::min(query + kQueryBlock, queries);
  const int64_t begin = window > 0 ? std::max<int64_t>(first + query - window + 1, 0) : 0;
  return {begin / kKeyBlock * kKeyBlock, std::clamp<int64_t>(last, 0, keys)};
}

AttentionProblem::Range AttentionProblem::keys_of(int64_t query) const {
  if (!causal) return {0, keys};
  const int64_t end = std::clamp<int64_t>(first + query + 1, 0, keys);
  return {window > 0 ? std::max<int64_t>(first + query - window + 1, 0) : 0, end};
}

void load_rows(const AttentionProblem& p, const float* from, int64_t stride, int64_t count,
               int64_t padded_count, uint32_t* rows) {
  const int64_t width = p.row_words();
  for (int64_t r = 0; r < count; ++r, rows += width) {
    std::copy_n(from + r * stride, p.head, reinterpret_cast<float*>(rows));
    clear(rows + p.head, rows + width);
  }
  clear(rows, rows + (padded_count - count) * width);
}

void load_rows(const AttentionProblem& p, const uint16_t* from, int64_t stride, int64_t count,
               int64_t padded_count, uint32_t* rows) {
  const int64_t width = p.row_words();
  for (int64_t r = 0; r < count; ++r, rows += width) {
    if (p.word == Word::kF32) {
      widen(from + r * stride, reinterpret_cast<float*>(rows), p.head);
    } else {
      std::copy_n(from + r * stride, p.head, reinterpret_cast<uint16_t*>(rows));
    }
    clear(rows + p.head_words(), rows + width);
  }
  clear(rows, rows + (padded_count - count) * width);
}

int64_t transpose_head(const AttentionProblem& p, const uint32_t* rows, int64_t count,
                       uint32_t* panels, uint32_t* to) {
  const int64_t words = words_of(p.word, count), stride = padded_words(p, count);
  pack_rows(p.word, rows, p.row_words(), count, p.head, panels);
  for (int64_t first = 0; first < p.head; first += kPanelWidth) {
    const int64_t width = std::min(kPanelWidth, p.head - first);
    transpose_words(panels + first * words, kPanelWidth, words, width, to + first * stride, stride);
  }
  return stride;
}

void write_row(const float* from, float factor, int64_t count, float* to) {
  write(from, factor, count, to);
}
void write_row(const float* from, float factor, int64_t count, uint16_t* to) {
  write(from, factor, count, to);
}

void scale_and_mask(const AttentionProblem& p, const ScoreBlock& block, const float* key_mask) {
  const int64_t last_key = block.first_key + block.keys - 1;
  const int64_t last_position = block.first_position + kQueryBlock - 1;
  const bool all_past = !p.causal || last_key <= block.first_position;
  const bool all_near = p.window == 0 || last_position - p.window < block.first_key;
  if (all_past && all_near && key_mask == nullptr) {
    return scale_scores(block.scores, block.keys * kQueryBlock, p.scale);
  }
  mask_scores(block, p.scale, p.causal, static_cast<int32_t>(p.window), key_mask);
}

bool attention_available(const graph::Node& node) {
  constexpr int64_t kLeastScores = 1024;
  const bool joined = graph::custom_call_settings(node).get<bool>("joined");
  const graph::Value& q = node.input(0);
  const graph::Value& k = node.input(joined ? 0 : 1);
  const int64_t heads = joined ? q.size(2) * (q.size(3) - 2) : q.size(2), head = q.size(-1);
  const int64_t scores = q.size(0) * q.size(1) * heads * k.size(1);
  return chosen_isa() >= Isa::kAvx2 && head % 16 == 0 && head <= 256 && scores >= kLeastScores;
}

}  // namespace hum::kernels
