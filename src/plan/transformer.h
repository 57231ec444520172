// The shape of a decoder-only transformer, as far as it affects memory and time of a training step.
// Non-goals: weights, vocabularies, other architectures.
#pragma once

#include <cstdint>
#include <string>

namespace hum::plan {

struct Transformer {
  int64_t hidden = 0, layers = 0, heads = 0;
  int64_t kv_heads = 0;  // 0: as many as heads
  int64_t ffn = 0;       // width between the MLP's two products; 0: 4 x hidden
  int64_t vocab = 51200, sequence = 0;
  bool gated = false;           // SwiGLU: three products in the MLP instead of two
  bool tied_embeddings = true;  // the head is the transposed embedding
  bool learned_positions = true;

  int64_t key_value_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  int64_t ffn_width() const { return ffn > 0 ? ffn : 4 * hidden; }
  int64_t head_width() const { return hidden / heads; }
  // Parameters of one block: products, biases and norms where the model has them.
  double block_parameters() const;
  // All of them.
  double parameters() const;
  // FLOPs of forward and backward over one sequence without recomputation: 6 per parameter of a
  // product and token, and attention over full rows of the score matrix.
  // Source: Narayanan et al. 2021 (SC21), appendix, without recomputation.
  double flops_per_sequence() const;
};

// Throws kBadData: sizes that are not positive, heads that do not divide the width.
void validate(const Transformer& model);

}  // namespace hum::plan
