// Shared by the attention kernels: the problem's sizes, packing of head rows into words, scaling
// and masking of scores. Scores are stored transposed, [keys][64 queries]: a query is a lane,
// and softmax needs no sums across lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/value.h"
#include "kernels/panel_product.h"
#include "kernels/parallel.h"
#include "kernels/simd.h"
#include "pjrt/ffi.h"

namespace hum::kernels {

// Queries per block: one panel. Keys per block: even, since bf16 words are pairs of keys.
constexpr int64_t kQueryBlock = kPanelWidth;
constexpr int64_t kKeyBlock = 128;
// The score of a key that the query does not see.
constexpr float kUnseen = -1e30F;

// The layout of the heads of q, k or v: those of one group are contiguous; groups and tokens are
// strided, since heads of the other two may lie between them.
template <typename T>
struct HeadRows {
  T* data;
  int64_t head, group_stride, token_stride;

  // token: counted across all items.
  T* at(int64_t token, int64_t group, int64_t member = 0) const {
    return data + token * token_stride + group * group_stride + member * head;
  }
};
template <typename T>
struct TensorRows {
  HeadRows<T> q, k, v;
};

struct AttentionProblem {
  // `extras`: the number of arguments between the tensors and the mask or first position.
  AttentionProblem(const pjrt::ffi::Call& call, int extras);

  int64_t batch, queries, keys, heads, groups, head;  // head: its size
  bool joined;                                        // queries, keys and values in one array
  float scale;
  bool causal;
  int64_t window;
  const float* key_mask = nullptr;  // [batch, keys]
  int64_t first;                    // position of query 0
  Word word;

  int64_t per_group() const { return heads / groups; }
  int64_t query_blocks() const { return (queries + kQueryBlock - 1) / kQueryBlock; }
  // Words per head, and per padded row.
  int64_t head_words() const { return words_of(word, head); }
  int64_t row_words() const { return (head_words() + 15) / 16 * 16; }

  struct Range {
    int64_t begin, end;
  };
  // Keys that some query of [query, query + kQueryBlock) may see; begin is a multiple of kKeyBlock.
  Range visible_keys(int64_t query) const;
  // Keys that one query may see.
  Range keys_of(int64_t query) const;

  int tensors() const { return joined ? 1 : 3; }
  // The rows of q, k and v in `tensors()` arrays; the rows of an array shaped like y.
  template <typename T>
  TensorRows<T> rows(const std::array<T*, 3>& arrays) const;
  template <typename T>
  HeadRows<T> query_rows(T* data) const {
    return heads_of(data, per_group());
  }

 private:
  template <typename T>
  HeadRows<T> heads_of(T* data, int64_t heads_of_group) const {
    return {data, head, heads_of_group * head, groups * heads_of_group * head};
  }
};

template <typename T>
TensorRows<T> AttentionProblem::rows(const std::array<T*, 3>& arrays) const {
  if (!joined) {
    return {query_rows(arrays[0]), heads_of(arrays[1], 1), heads_of(arrays[2], 1)};
  }
  const int64_t members = per_group();
  T* const all = arrays[0];
  return {heads_of(all, members + 2), heads_of(all + members * head, members + 2),
          heads_of(all + (members + 1) * head, members + 2)};
}

// The first `tensors()` arguments or results of a call.
template <typename T, typename Get>
TensorRows<T> tensor_rows(const AttentionProblem& p, const Get& get) {
  std::array<T*, 3> arrays{};
  for (int i = 0; i < p.tensors(); ++i) {
    arrays[static_cast<size_t>(i)] = get(i).template as<T>().data();
  }
  return p.rows(arrays);
}

// Divides one block of scratch memory into aligned arrays.
class Arena {
 public:
  explicit Arena(std::span<std::byte> memory) : memory_(memory) {}
  template <typename T = uint32_t>
  T* take(int64_t count) {
    T* result = reinterpret_cast<T*>(memory_.data());
    memory_ = memory_.subspan(bytes(count * static_cast<int64_t>(sizeof(T))));
    return result;
  }
  static size_t bytes(int64_t size) { return static_cast<size_t>((size + 63) / 64 * 64); }

 private:
  std::span<std::byte> memory_;
};

// `count` rows of `head` elements, `stride` elements apart, as words; the rest of each row, and the
// rows up to `padded_count`, are zero.
void load_rows(const AttentionProblem& p, const float* from, int64_t stride, int64_t count,
               int64_t padded_count, uint32_t* rows);
void load_rows(const AttentionProblem& p, const uint16_t* from, int64_t stride, int64_t count,
               int64_t padded_count, uint32_t* rows);

// Transposes rows[count][row_words] of a head to [head][words of count], with the contracting dim
// along the rows. `panels`: scratch for the packed rows. Returns words from row to row.
int64_t transpose_head(const AttentionProblem& p, const uint32_t* rows, int64_t count,
                       uint32_t* panels, uint32_t* to);
inline int64_t padded_words(const AttentionProblem& p, int64_t count) {
  return (words_of(p.word, count) + 15) / 16 * 16;
}
inline int64_t panel_words(const AttentionProblem& p, int64_t count) {
  return (p.head + kPanelWidth - 1) / kPanelWidth * kPanelWidth * words_of(p.word, count);
}

// Scratch words for a key-value head's panels or a query block's rows, whichever is larger.
inline int64_t spare_words(const AttentionProblem& p) {
  return std::max(panel_words(p, p.keys), kQueryBlock * std::max(p.row_words(), p.head));
}

// Packs two rows into one row of bf16 pairs, rounded to nearest.
template <typename Floats>
HUM_INLINE simd::WordsOf<Floats> paired(Floats even, Floats odd) {
  const auto low = simd::bits(even), high = simd::bits(odd);
  const auto a = low + 0x7fff + ((low >> 16) & 1), b = high + 0x7fff + ((high >> 16) & 1);
  return (a >> 16) | (b & 0xffff0000);
}

// to[i] = from[i] * factor; `count` is a multiple of 16.
void write_row(const float* from, float factor, int64_t count, float* to);
void write_row(const float* from, float factor, int64_t count, uint16_t* to);

// A block of scores, [keys][kQueryBlock].
struct ScoreBlock {
  float* scores;
  int64_t keys;
  int64_t first_key;
  int64_t first_position;  // of the block's first query
};

// Whether the kernels, forward and backward, are faster than plain ops.
bool attention_available(const graph::Node& node);

// Scales the scores and sets those of hidden keys to kUnseen. key_mask: this batch item's, or null.
void scale_and_mask(const AttentionProblem& p, const ScoreBlock& block, const float* key_mask);

}  // namespace hum::kernels
