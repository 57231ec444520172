// The order of the decoder step's inputs, and its arithmetic on rows.
#pragma once

#include <cstdint>

namespace hum::kernels {

// x, waves, position; then the mask, if any; then the layers' inputs.
constexpr int kDecoderHeadInputs = 3;
// Those of a layer, in DecoderLayer's order.
enum DecoderLayerInput {
  kAttentionNorm,
  kQkv,
  kOut,
  kFeedForwardNorm,
  kGateUp,
  kDown,
  kKeys,
  kValues,
  kDecoderLayerInputs
};

// Functions on rows of f32 or bf16 (as its bits) whose sizes are multiples of 16. They round where
// the plain ops round.
// y = x / sqrt(mean(x^2) + epsilon) * scale
void normalise(const float* x, const float* scale, float* y, int64_t width, float epsilon);
void normalise(const uint16_t* x, const float* scale, uint16_t* y, int64_t width, float epsilon);
// y = sums
void store_rounded(const float* sums, float* y, int64_t count);
void store_rounded(const float* sums, uint16_t* y, int64_t count);
// x += sums
void add_rounded(const float* sums, float* x, int64_t count);
void add_rounded(const float* sums, uint16_t* x, int64_t count);
// y = silu(gates) * ups
void store_gated(const float* gates, const float* ups, float* y, int64_t count);
void store_gated(const float* gates, const float* ups, uint16_t* y, int64_t count);

}  // namespace hum::kernels
