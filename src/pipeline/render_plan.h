// Which runs of the renderer make a piece's sound, and when each is possible.
#pragma once

#include <cstdint>
#include <vector>

namespace hum::pipeline {

// Frames over which the sound of one run fades into that of the next.
inline constexpr int64_t kRenderFade = 2;

// One run of the renderer, as soon as latents window `after` is ready (-1: its quick part). It
// begins at first_frame; its sound takes over at `keep_from` and is final before `keep_to`.
struct RenderStep {
  int64_t after, first_frame, keep_from, keep_to;
  bool operator==(const RenderStep&) const = default;
};

// In the order of their sound. `quick_frames`: of the first latents window, which are ready before
// all of it; 0: none.
std::vector<RenderStep> plan_rendering(int64_t frames, int64_t quick_frames);

}  // namespace hum::pipeline
