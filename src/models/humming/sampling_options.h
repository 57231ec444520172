// User options for sampling the coarse LM's tokens.
//
// T = kWindowFrames, M melody features.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hum::models::humming {

inline constexpr int64_t kWindowFrames = 300;

struct SamplingOptions {
  bool greedy = false;
  double temperature = 0.8;
  int64_t top_k = 0;
  double top_p = 0.95;
  double guidance = 1.5;
  // Guidance of one condition; kAsGuidance: `guidance`. Unequal values take half as long again.
  double melody_guidance = kAsGuidance, timbre_guidance = kAsGuidance;
  // "all", "first-note", or a number of frames (as TokenSynth: Kim et al. 2025).
  std::string guidance_over = "all";
  // Share of the upsampler's draft in the latents; the rest comes from the sampled tokens. The
  // draft is the likely sound, a sample one of many. Half of each is nearer to the true rendering
  // than the sample, and its onsets are clearer than the draft's.
  double draft = 0.5;
  int64_t seed = 1;

  bool operator==(const SamplingOptions&) const = default;

  static constexpr double kAsGuidance = -1;
  double guidance_of_melody() const {
    return melody_guidance == kAsGuidance ? guidance : melody_guidance;
  }
  double guidance_of_timbre() const {
    return timbre_guidance == kAsGuidance ? guidance : timbre_guidance;
  }

  template <class V>
  void visit_fields(V& v) {
    v("greedy", greedy, "always take the likeliest token");
    v("temperature", temperature, "sampling temperature: above 1 more variation, below 1 less");
    v("top_k", top_k, "sample from this many likeliest tokens (0: all)");
    v("top_p", top_p, "sample from the likeliest tokens with this total probability");
    v("guidance", guidance, "classifier-free guidance of melody and timbre (1: as trained)");
    v("melody_guidance", melody_guidance, "guidance of the melody (-1: as --guidance)");
    v("timbre_guidance", timbre_guidance, "guidance of the timbre (-1: as --guidance)");
    v("guidance_over", guidance_over,
      "where guidance applies in each window of 6 s: all, first-note, or a number of frames (50 "
      "per "
      "second) from the start of the first note");
    v("draft", draft, "how much of the most likely sound to mix in (0: none, 1: nothing else)");
    v("seed", seed, "random seed; the same seed gives the same sound");
  }
};

// Throws kUsage naming the flag that is out of range.
void validate(const SamplingOptions& options);

// Whether an option other than the seed differs from its default.
bool is_set(const SamplingOptions& options);

// The number of frames of a window before the end of `guidance_over`; T for "all", 0 if no note
// sounds. Throws what validate() throws. Shapes: melody [T, M].
int64_t guided_frames(const SamplingOptions& options, std::span<const float> melody);

}  // namespace hum::models::humming
