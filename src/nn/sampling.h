// Samples tokens inside a program. Temperature, top-k, top-p and guidance scales are inputs, so
// that changing them does not recompile.
//
// B rows, V vocabulary.
#pragma once

#include "graph/value.h"

namespace hum::nn {

// Each applies to all rows, or has one value per row.
struct SamplingInputs {
  graph::Value key;          // u32[2] or [B,2]
  graph::Value temperature;  // f32[] or [B]; 0: greedy
  graph::Value top_k;        // i32[] or [B], 1..V
  graph::Value top_p;        // f32[] or [B], in (0, 1]
};

// Samples one token per row. Shapes: logits_BV f32 -> i32[B].
graph::Value sample(const graph::Value& logits_BV, const SamplingInputs& inputs);

// Sets logits to -1e30 where top-k or top-p excludes a token; ties at the limit are kept. Shapes:
// BV -> BV; top_k and top_p scalars or [B].
graph::Value keep_likely(const graph::Value& logits_BV, const graph::Value& top_k,
                         const graph::Value& top_p);

// Classifier-free guidance with a scale for each condition: l[0] + sum_i scales[i] (l[i+1] - l[i]).
// l[0] is unconditional; each further one adds a condition (or several that share a scale). Scales
// of 1 give the last l. Shapes: n + 1 of BV, n of f32[B] -> BV.
// Source: Ho and Salimans 2022; Brooks et al. 2023 (InstructPix2Pix), equation 3.
graph::Value guide(const graph::Values& logits, const graph::Values& scales);

}  // namespace hum::nn
