// Attention of a few queries against many keys.
#pragma once

#include "kernels/attention/attention_cpu_impl.h"

namespace hum::kernels {

// The inputs and outputs of the forward pass.
template <typename T>
struct AttentionArrays {
  TensorRows<const T> tensors;
  HeadRows<T> y;
  float* log_sum;
};

// One query of one head and item. Rows are f32 or bf16 as its bits.
template <typename T>
struct DecodeRow {
  const T* q;
  const T *k, *v;  // of key 0
  int64_t stride;  // from key to key
  const float* key_mask;
  AttentionProblem::Range keys;
  float* weights;  // scratch: one per key
  T* y;
  float* log_sum;
};
// `head`, the size, is a multiple of 16.
void attend(const DecodeRow<float>& row, int64_t head, float scale);
void attend(const DecodeRow<uint16_t>& row, int64_t head, float scale);

// Whether there are so few queries that blocks would be mostly padding.
bool is_decode(const AttentionProblem& problem);
template <typename T>
void decode(const AttentionProblem& problem, const AttentionArrays<T>& arrays, Workers& workers);

}  // namespace hum::kernels
