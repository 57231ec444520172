#include "models/basic_pitch/windows.h"

#include <algorithm>

#include "base/error.h"

namespace hum::models::basic_pitch {
namespace {

// The first window starts this far before the recording, because its first frames are dropped.
constexpr int64_t kLeadSamples = kEdgeFrames * kFrameHopSamples;

}  // namespace

int64_t window_count(int64_t samples) {
  return (samples + kLeadSamples + kWindowHopSamples - 1) / kWindowHopSamples;
}

int64_t frame_count(int64_t samples) {
  // In double, as in basic-pitch: whole seconds may round to one frame less.
  constexpr double kFramesPerSample = static_cast<double>(kFramesPerSecond) / kSampleRateHz;
  return static_cast<int64_t>(static_cast<double>(samples) * kFramesPerSample);
}

void cut_window(std::span<const float> samples, int64_t index, std::span<float> window) {
  HUM_CHECK(static_cast<int64_t>(window.size()) == kWindowSamples, "{} samples", window.size());
  std::ranges::fill(window, 0.0F);
  const int64_t start = index * kWindowHopSamples - kLeadSamples;
  const int64_t first = std::max<int64_t>(start, 0);
  const int64_t last = std::min(start + kWindowSamples, static_cast<int64_t>(samples.size()));
  if (first >= last) return;
  const auto piece = samples.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
  std::ranges::copy(piece, window.begin() + (first - start));
}

void join_window(std::span<const float> window_output, int64_t index, Matrix<float>& joined) {
  const int64_t columns = joined.columns;
  HUM_CHECK(static_cast<int64_t>(window_output.size()) == kWindowFrames * columns, "{} values",
            window_output.size());
  const int64_t first = index * kKeptFrames;
  const int64_t rows = std::min(kKeptFrames, joined.rows - first);
  if (rows <= 0) return;
  const auto kept = window_output.subspan(static_cast<size_t>(kEdgeFrames * columns),
                                          static_cast<size_t>(rows * columns));
  std::ranges::copy(kept, joined.values.begin() + first * columns);
}

}  // namespace hum::models::basic_pitch
