// One step of a decoder: a new position through all layers of a Llama-like transformer, against
// caches of keys and values. One kernel, so that reading the weights is never interrupted: with a
// call for each op, two cores waited a quarter of the time.
//
// B batch, D width, G key-value heads, R query heads of each, d head size, S cached positions, F
// feed-forward size.
#pragma once

#include <source_location>
#include <span>

#include "graph/value.h"

namespace hum::kernels {

// The weights are in x's type, the norms' scales f32. Weights are [out, in].
struct DecoderLayer {
  graph::Value attention_norm_D;
  graph::Value qkv;  // [G (R + 2) d, D]: of each group its queries, its key, its value
  graph::Value out;  // [D, G R d]
  graph::Value feed_forward_norm_D;
  graph::Value gate_up;  // [2 F, D]
  graph::Value down;     // [D, F]
  graph::Value keys_BSGd, values_BSGd;
};

struct DecoderInputs {
  graph::Value x_B1D;             // f32 or bf16
  graph::Value waves_12h;         // f32: cosines, then sines of the position's angles (rotary.h)
  graph::Value position;          // i32 scalar, the row of the caches that is written
  graph::Value key_mask_BS = {};  // f32: keys with 0 are ignored; absent: none up to `position` are
};

struct DecoderStep {
  graph::Value y_B1D;
  graph::Values keys_BSGd, values_BSGd;  // of each layer, with the new position
};

// For each layer, with RMS norms of this epsilon: x += out attention(rotated qkv(norm(x))), then
// x += down swiglu(gate_up(norm(x))). Gradients are those of the plain ops.
// Throws: shapes or types that do not fit; no layers.
DecoderStep decoder_step(const DecoderInputs& inputs, std::span<const DecoderLayer> layers,
                         double epsilon,
                         std::source_location where = std::source_location::current());

// The custom call, for kernels/table.cpp. Settings: epsilon, has_mask.
struct Kernel;
// (x, waves, position, mask?, then the members of each DecoderLayer) -> (x, keys and values of each
// layer in place)
extern const Kernel kDecoderStepKernel;

}  // namespace hum::kernels
