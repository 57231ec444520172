// Drawing tokens inside a program: temperature, top-k, top-p, all as inputs, so that no setting
// compiles anew.
#pragma once

#include "graph/value.h"

namespace hum::nn {

struct SamplingInputs {
  graph::Value key;          // u32[2]
  graph::Value temperature;  // f32 scalar; 0: greedy
  graph::Value top_k;        // i32 scalar, 1..V
  graph::Value top_p;        // f32 scalar in (0, 1]
};

// One token a row. Shapes: logits_BV f32 -> i32[B].
graph::Value sample(const graph::Value& logits_BV, const SamplingInputs& inputs);

// Logits with -1e30 where top-k or top-p leaves a token out; ties at the border stay in. Shapes: BV
// -> BV.
graph::Value keep_likely(const graph::Value& logits_BV, const graph::Value& top_k,
                         const graph::Value& top_p);

}  // namespace hum::nn
