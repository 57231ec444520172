#include "pipeline/windows.h"

#include <algorithm>

#include "base/error.h"

namespace hum::pipeline {

int64_t WindowLayout::windows(int64_t frames) const {
  if (frames <= window_frames) return 1;
  return 1 + (frames - window_frames + hop_frames() - 1) / hop_frames();
}

std::vector<float> stitch(int64_t frames, int64_t width, const WindowLayout& layout,
                          const WindowFunction& window) {
  HUM_REQUIRE(layout.hop_frames() > 0 && layout.fade_frames <= 2 * layout.context_frames,
              "stitch: context {} and fade {} of windows of {} frames", layout.context_frames,
              layout.fade_frames, layout.window_frames);
  std::vector<float> result(static_cast<size_t>(frames * width));
  for (int64_t w = 0; w < layout.windows(frames); ++w) {
    const std::vector<float> part = window(w);
    HUM_REQUIRE(static_cast<int64_t>(part.size()) == layout.window_frames * width,
                "stitch: window {} has {} values", w, part.size());
    const int64_t start = layout.first_frame(w);
    // The fade lies in the middle of the overlap with the window before.
    const int64_t fade_start = start + layout.context_frames - layout.fade_frames / 2;
    const int64_t first = w == 0 ? 0 : fade_start;
    const int64_t end = std::min(frames, start + layout.window_frames);
    for (int64_t frame = first; frame < end; ++frame) {
      const double into = static_cast<double>(frame - fade_start) + 0.5;
      const bool fades = w > 0 && frame < fade_start + layout.fade_frames;
      const auto share =
          fades ? static_cast<float>(into / static_cast<double>(layout.fade_frames)) : 1.0F;
      const float* from = part.data() + (frame - start) * width;
      float* to = result.data() + frame * width;
      for (int64_t i = 0; i < width; ++i) to[i] += share * (from[i] - to[i]);
    }
  }
  return result;
}

std::vector<float> cut_rows(std::span<const float> table, int64_t width, int64_t first_row,
                            int64_t rows) {
  const int64_t count = static_cast<int64_t>(table.size()) / width;
  std::vector<float> result(static_cast<size_t>(rows * width));
  const int64_t from = std::clamp<int64_t>(first_row, 0, count);
  const int64_t to = std::clamp<int64_t>(first_row + rows, from, count);
  std::copy(table.begin() + from * width, table.begin() + to * width,
            result.begin() + (from - first_row) * width);
  return result;
}

}  // namespace hum::pipeline
