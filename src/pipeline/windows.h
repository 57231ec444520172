// Runs long melodies through models with fixed windows: windows overlap, and their middles are kept
// and cross-faded.
//
// T frames of the whole piece, W window frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hum::pipeline {

struct WindowLayout {
  int64_t window_frames = 300;
  int64_t context_frames = 50;  // on each side of an inner window that only its neighbour keeps
  int64_t fade_frames = 20;     // of the kept parts, shared by two neighbours; at most 2 contexts

  // The piece begins and ends at a window's edge, where no context is cut.
  int64_t hop_frames() const { return window_frames - 2 * context_frames; }
  int64_t windows(int64_t frames) const;
  int64_t first_frame(int64_t window) const { return window * hop_frames(); }
  // The frame where a window takes over from the previous one; the fade is in the middle of their
  // overlap.
  int64_t fade_start(int64_t window) const {
    return window == 0 ? 0 : first_frame(window) + context_frames - fade_frames / 2;
  }
};

inline constexpr int64_t kWindowFrames = 300;
// The windows of Instrument::latents (play.h): window w begins at kLatentWindows.first_frame(w).
inline constexpr WindowLayout kLatentWindows{
    .window_frames = kWindowFrames, .context_frames = 50, .fade_frames = 20};

// Assembles a table from windows that arrive in order.
class Stitcher {
 public:
  Stitcher(int64_t frames, int64_t width, int64_t fade_frames);

  // Adds a window that begins at first_frame. It takes over from the rows before it at fade_start,
  // linearly over fade_frames; at 0 there is no fade. Ignores rows past the table's end.
  // Shapes: part [n, width].
  void add(int64_t first_frame, std::span<const float> part, int64_t fade_start);
  // Shapes: [frames, width]. Rows that no window has reached are zero.
  const std::vector<float>& table() const { return table_; }
  std::vector<float> take() && { return std::move(table_); }

 private:
  int64_t frames_, width_, fade_frames_;
  std::vector<float> table_;
};

// Rows [first_row, first_row + rows) of a table; rows outside it are zero. Shapes: [n, width] ->
// [rows, width].
std::vector<float> cut_rows(std::span<const float> table, int64_t width, int64_t first_row,
                            int64_t rows);

}  // namespace hum::pipeline
