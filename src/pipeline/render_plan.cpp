#include "pipeline/render_plan.h"

#include <algorithm>

#include "pipeline/windows.h"

namespace hum::pipeline {
namespace {

// Context of rendering on each side of the kept part of a window.
constexpr int64_t kRenderContext = 25;

// Latents this near to the end of a part of a window may depend on later frames.
constexpr int64_t kQuickContext = 25;

}  // namespace

std::vector<RenderStep> plan_rendering(int64_t frames, int64_t quick_frames) {
  std::vector<RenderStep> steps;
  const int64_t windows = kLatentWindows.windows(frames);
  constexpr int64_t kEdge = kRenderContext + kRenderFade;
  int64_t done = 0;
  for (int64_t w = quick_frames > 0 ? -1 : 0; w < windows; ++w) {
    int64_t final_to =
        w < 0 ? quick_frames - kQuickContext - kEdge : kLatentWindows.fade_start(w + 1) - kEdge;
    if (w + 1 == windows) final_to = frames;
    while (done < final_to) {
      const int64_t first = std::max<int64_t>(0, done - kRenderContext);
      const int64_t reach = first + kWindowFrames;
      const int64_t to = reach >= frames ? final_to : std::min(final_to, reach - kEdge);
      steps.push_back({w, first, done, to});
      done = to;
    }
  }
  return steps;
}

}  // namespace hum::pipeline
