// Conditions the coarse LM on melody and timbre, by sums on its steps and a prefix before them.
//
// B batch, T frames, P prefix positions, L sequence steps, S reference frames, D latent size, W
// width, M melody features.
#pragma once

#include <memory>

#include "models/humming/config.h"
#include "nn/blocks.h"
#include "nn/parameters.h"

namespace hum::models::humming {

using graph::Value;

// reference_frames is the number of valid frames of the reference.
struct Conditions {
  Value melody_BTM;
  Value reference_BSD;       // quantised latents of the timbre reference
  Value reference_frames_B;  // i32
  // f32, 1: given, 0: left out (classifier-free guidance).
  Value has_melody_B, has_timbre_B;
  Value draft_BTD = {};  // the upsampler's draft latents, if uses_draft()
};

struct ConditionedSteps {
  Value steps_BLW;    // added to the embedding of each step
  Value prefix_BPW;   // comes before the steps
  Value key_mask_BX;  // f32, over prefix and steps: 1 for valid positions
};

class Conditioning {
 public:
  virtual ~Conditioning() = default;
  virtual bool uses_draft() const = 0;
  virtual ConditionedSteps apply(const Conditions& conditions, graph::DType compute,
                                 const nn::BlockOptions& blocks) const = 0;
};

// Declares the parameters of config.conditioning below `scope`.
std::unique_ptr<Conditioning> make_conditioning(const nn::Scope& scope, const CoarseConfig& config);

}  // namespace hum::models::humming
