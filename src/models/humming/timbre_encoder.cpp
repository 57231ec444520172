#include "models/humming/timbre_encoder.h"

#include "base/error.h"
#include "kernels/attention/attention.h"
#include "nn/waveform.h"

namespace hum::models::humming {

using graph::convert;
using graph::DType;

namespace {

constexpr int64_t kEncoderBlocks = 3;

}  // namespace

Value frame_mask(const Value& frames_B, int64_t frames) {
  const int64_t batch = frames_B.size(0);
  const Value index = graph::iota({DType::kI32, {batch, frames}}, 1);
  const Value inside = index < graph::reshape(frames_B, {batch, 1});
  return graph::reshape(convert(inside, DType::kF32), {batch, frames, 1});
}

Value pooled_reference(const Value& latents_BSD, const Value& frames_B) {
  const Value mask = frame_mask(frames_B, latents_BSD.size(1));
  const Value count = graph::maximum(graph::reduce_sum(mask, {1}), 1);
  const Value mean = graph::reduce_sum(latents_BSD * mask, {1}) / count;
  const Value squares = graph::reduce_sum(latents_BSD * latents_BSD * mask, {1}) / count;
  const Value deviation = graph::sqrt(graph::maximum(squares - mean * mean, 0) + 1e-5);
  return graph::concatenate({mean, deviation}, 1);
}

TimbreEncoder::TimbreEncoder(const nn::Scope& scope, const CommonConfig& common, int64_t width)
    : in_(scope.child("in"), common.latent + common.melody_features, width),
      blocks_(nn::convnext_stack(scope, kEncoderBlocks, {.width = width, .hidden = 3 * width})),
      norm_(scope.child("norm"), nn::NormKind::kLayer, width) {}

Value TimbreEncoder::operator()(const Reference& reference, DType compute,
                                const nn::BlockOptions& blocks) const {
  HUM_REQUIRE(bool(reference.melody_BSM), "timbre encoder: the reference has no melody");
  const Value mask =
      convert(frame_mask(reference.frames_B, reference.latents_BSD.size(1)), compute);
  // Padding is zero before each convolution, as what lies outside the array is.
  Value x =
      in_(convert(graph::concatenate({reference.latents_BSD, reference.melody_BSM}, 2), compute)) *
      mask;
  int64_t index = 0;
  for (const nn::ConvNextBlock& block : blocks_) {
    x = nn::run_block(blocks, index++, x, [&](const Value& in) { return block(in) * mask; });
  }
  return norm_(x);
}

TimbreAttention::TimbreAttention(const nn::Scope& scope, int64_t width)
    : norm_(scope.child("norm"), nn::NormKind::kLayer, width),
      query_(scope.child("query"), width, width),
      key_(scope.child("key"), width, width, {.bias = false}),  // would move all scores alike
      value_(scope.child("value"), width, width),
      out_(scope.child("out"), width, width, {.init = 0.02}) {
  if (width % kHeads == 0) return;
  fail(ExitCode::kConfig, fmt::format("width {} does not divide into {} heads", width, kHeads),
       fmt::format("use a multiple of {}", kHeads));
}

Value TimbreAttention::split_heads(const Value& x) {
  return graph::reshape(x, {x.size(0), x.size(1), kHeads, x.size(2) / kHeads});
}

TimbreAttention::Keys TimbreAttention::keys(const Value& encoded_BSW) const {
  return {split_heads(key_(encoded_BSW)), split_heads(value_(encoded_BSW))};
}

Value TimbreAttention::operator()(const Value& x_BTW, const Keys& keys,
                                  const Value& mask_BS) const {
  const Value found =
      kernels::attention(split_heads(query_(norm_(x_BTW))), keys.keys_BSHd, keys.values_BSHd,
                         {.causal = false, .key_mask_BS = mask_BS});
  return x_BTW + out_(graph::reshape(found, x_BTW.dims()));
}

}  // namespace hum::models::humming
