// What the models take from a timbre reference: its latents pooled over time, or all of its frames,
// with the notes that they play, to attend to. Pooled latents mix the sound of an instrument with
// that of the notes that the reference happens to play; attention finds the frames that play what
// the melody asks for.
//
// B batch, T frames of a melody, S frames of a reference, D latent size, M melody features, W
// width, H heads, d head size.
//
// Source: cross-attention to reference frames instead of an embedding, without positions: Lin et
// al. 2020, "FragmentVC" (arXiv 2010.14150).
#pragma once

#include <vector>

#include "models/humming/config.h"
#include "nn/blocks.h"
#include "nn/layers.h"

namespace hum::models::humming {

using graph::Value;

// A timbre reference as models get it; frames from frames_B on are padding.
struct Reference {
  Value latents_BSD;
  Value frames_B;         // i32
  Value melody_BSM = {};  // of the notes that it plays; only attention needs it
};

// 1 for frames before frames_B. Shapes: i32[B] -> f32[B, frames, 1].
Value frame_mask(const Value& frames_B, int64_t frames);

// Mean and standard deviation over time of the frames before `frames_B`.
// Shapes: latents_BSD, i32[B] -> [B, 2D].
Value pooled_reference(const Value& latents_BSD, const Value& frames_B);

// Encodes each frame of a reference with its neighbours.
class TimbreEncoder {
 public:
  TimbreEncoder() = default;
  TimbreEncoder(const nn::Scope& scope, const CommonConfig& common, int64_t width);
  // Padding changes nothing before it. Shapes: -> BSW.
  Value operator()(const Reference& reference, graph::DType compute,
                   const nn::BlockOptions& blocks = {}) const;

 private:
  nn::Linear in_;
  std::vector<nn::ConvNextBlock> blocks_;
  nn::Norm norm_;
};

// Lets each frame of a melody read from the frames of a reference, whatever their order.
class TimbreAttention {
 public:
  // Throws: kConfig for a width that the heads do not divide.
  TimbreAttention(const nn::Scope& scope, int64_t width);

  // Of one reference; they serve any number of melodies.
  struct Keys {
    Value keys_BSHd, values_BSHd;
  };
  Keys keys(const Value& encoded_BSW) const;
  // Initially close to x. Frames with mask 0 are ignored. Shapes: x_BTW, mask f32[B, S] -> BTW.
  Value operator()(const Value& x_BTW, const Keys& keys, const Value& mask_BS) const;

 private:
  static constexpr int64_t kHeads = 4;
  static Value split_heads(const Value& x);

  nn::Norm norm_;
  nn::Linear query_, key_, value_, out_;
};

}  // namespace hum::models::humming
