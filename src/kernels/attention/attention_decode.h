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

// Whether there are so few queries that blocks would be mostly padding.
bool is_decode(const AttentionProblem& problem);
template <typename T>
void decode(const AttentionProblem& problem, const AttentionArrays<T>& arrays, Workers& workers);

}  // namespace hum::kernels
