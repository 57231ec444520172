#include "pipeline/windows.h"

#include <algorithm>

#include "base/error.h"

namespace hum::pipeline {

int64_t WindowLayout::windows(int64_t frames) const {
  if (frames <= window_frames) return 1;
  return 1 + (frames - window_frames + hop_frames() - 1) / hop_frames();
}

Stitcher::Stitcher(int64_t frames, int64_t width, int64_t fade_frames)
    : frames_(frames),
      width_(width),
      fade_frames_(fade_frames),
      table_(static_cast<size_t>(frames * width)) {}

void Stitcher::add(int64_t first_frame, std::span<const float> part, int64_t fade_start) {
  const int64_t rows = static_cast<int64_t>(part.size()) / width_;
  const int64_t end = std::min(frames_, first_frame + rows);
  for (int64_t frame = std::max(first_frame, fade_start); frame < end; ++frame) {
    const double into = static_cast<double>(frame - fade_start) + 0.5;
    const bool fades = fade_start > 0 && frame < fade_start + fade_frames_;
    const auto share = static_cast<float>(into / static_cast<double>(fade_frames_));
    const float* from = part.data() + (frame - first_frame) * width_;
    float* to = table_.data() + frame * width_;
    if (!fades) {  // the difference would round
      std::copy(from, from + width_, to);
      continue;
    }
    for (int64_t i = 0; i < width_; ++i) to[i] += share * (from[i] - to[i]);
  }
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
