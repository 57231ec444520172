// How the coarse LM's tokens are drawn, as a user says it.
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
  // Of one condition; kAsGuidance: `guidance`. Unequal, they cost half as much again.
  double melody_guidance = kAsGuidance, timbre_guidance = kAsGuidance;
  // "all", "first-note", or a number of frames (as TokenSynth: Kim et al. 2025).
  std::string guidance_over = "all";
  // Share of the upsampler's draft in the latents, the rest being those of the drawn tokens. The
  // draft is the likely sound, a drawing one of many: half of each is nearer to the true rendering
  // than the drawing, and its onsets are clearer than the draft's.
  double draft = 0.5;
  int64_t seed = 1;

  static constexpr double kAsGuidance = -1;
  double guidance_of_melody() const {
    return melody_guidance == kAsGuidance ? guidance : melody_guidance;
  }
  double guidance_of_timbre() const {
    return timbre_guidance == kAsGuidance ? guidance : timbre_guidance;
  }

  template <class V>
  void visit_fields(V& v) {
    v("greedy", greedy, "always the likeliest token");
    v("temperature", temperature, "above 1: more adventurous, below 1: safer");
    v("top_k", top_k, "draw from this many likeliest tokens (0: all)");
    v("top_p", top_p, "draw from the likeliest tokens that hold this share of probability");
    v("guidance", guidance, "how strongly melody and timbre steer (1: as trained)");
    v("melody_guidance", melody_guidance, "how strongly the melody steers (-1: as --guidance)");
    v("timbre_guidance", timbre_guidance, "how strongly the timbre steers (-1: as --guidance)");
    v("guidance_over", guidance_over,
      "all, first-note, or so many frames (50 a second) from where the first note begins; in each "
      "window of 6 s");
    v("draft", draft, "share of the likeliest sound in what was drawn: 0 none of it, 1 it alone");
    v("seed", seed, "the same seed gives the same sound");
  }
};

// Throws kUsage naming the flag that is out of range.
void validate(const SamplingOptions& options);

// Frames of a window before the one where `guidance_over` ends; T for "all", 0 where no note
// sounds. Throws: as validate(). Shapes: melody [T, M].
int64_t guided_frames(const SamplingOptions& options, std::span<const float> melody);

}  // namespace hum::models::humming
