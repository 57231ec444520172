// Drawing tokens inside a program: guidance, temperature, top-k, top-p, all as inputs, so that no
// setting compiles anew.
//
// B rows, V vocabulary.
#pragma once

#include "graph/value.h"

namespace hum::nn {

// Each for all rows, or one a row.
struct SamplingInputs {
  graph::Value key;          // u32[2] or [B,2]
  graph::Value temperature;  // f32[] or [B]; 0: greedy
  graph::Value top_k;        // i32[] or [B], 1..V
  graph::Value top_p;        // f32[] or [B], in (0, 1]
};

// One token a row. Shapes: logits_BV f32 -> i32[B].
graph::Value sample(const graph::Value& logits_BV, const SamplingInputs& inputs);

// Logits with -1e30 where top-k or top-p leaves a token out; ties at the border stay in. Shapes: BV
// -> BV; top_k and top_p scalars or [B].
graph::Value keep_likely(const graph::Value& logits_BV, const graph::Value& top_k,
                         const graph::Value& top_p);

// Classifier-free guidance with a scale for each condition: l[0] + sum_i scales[i] (l[i+1] - l[i]).
// l[0] knows no condition, each further one knows one (or several that share a scale) more. Scales
// of 1 give the last l. Shapes: n + 1 of BV, n of f32[B] -> BV.
// Source: Ho and Salimans 2022; Brooks et al. 2023 (InstructPix2Pix), equation 3.
graph::Value guide(const graph::Values& logits, const graph::Values& scales);

}  // namespace hum::nn
