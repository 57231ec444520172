// Attention in blocks: the full score matrix is never stored, in the forward or the backward pass.
//
// B batch, T queries, S keys, H query heads, G key-value heads (H a multiple of G: grouped-query
// attention), d head size.
#pragma once

#include <source_location>

#include "graph/value.h"

namespace hum::kernels {

struct AttentionOptions {
  // Query t has position first + t and sees keys up to its own position; false: all keys.
  bool causal = true;
  // Only the last `window` of those (including its own position); 0: all. Causal attention only.
  int64_t window = 0;
  // f32[B,S]: keys with 0 are ignored. Absent: all keys are used.
  graph::Value key_mask_BS = {};
  // i32 scalar, the position of query 0 in a cache of keys. Absent: S - T.
  graph::Value first = {};
  // Scale of the scores; 0: 1 / sqrt(d).
  double scale = 0;
};

// softmax(q k^T * scale) v, with f32 sums; a query that sees no key gets zeros. Masks and positions
// have no gradient. Source: Dao et al. 2022, "FlashAttention"; Rabe and Staats 2021; grouped
// queries: Ainslie et al. 2023.
// Shapes: q[B,T,H,d], k and v[B,S,G,d], f32 or bf16 -> q's.
// Throws: other shapes or types.
graph::Value attention(const graph::Value& q_BTHd, const graph::Value& k_BSGd,
                       const graph::Value& v_BSGd, const AttentionOptions& options = {},
                       std::source_location where = std::source_location::current());

// The same for queries, keys and values stored side by side, as one product yields them; nothing is
// split. Shapes: qkv[B,T,G,R+2,d] with R = H / G query heads of each group, then its key, then its
// value -> [B,T,H,d]. Throws: as above.
graph::Value self_attention(const graph::Value& qkv_BTGRd, const AttentionOptions& options = {},
                            std::source_location where = std::source_location::current());

// Heads [from, to) of every group. Shapes: qkv[B,T,G,R+2,d] -> [B, T, G (to - from), d].
graph::Value heads_of_groups(const graph::Value& qkv_BTGRd, int64_t from, int64_t to);

// The custom calls, for kernels/table.cpp. Settings: scale, causal, window, has_mask, has_first;
// the key mask and the first position, if present, follow the other inputs. joined: one
// qkv[B,T,G,R+2,d] replaces q, k and v, and its gradient replaces theirs.
struct Kernel;
// (q[B,T,H,d], k[B,S,G,d], v, mask?, first?) -> (y[B,T,H,d], log_sum_exp f32[B,H,T])
extern const Kernel kAttentionKernel;
// (q, k, v, y, log_sum_exp, dy, mask?, first?) -> (dq, dk, dv)
extern const Kernel kAttentionGradKernel;

}  // namespace hum::kernels
