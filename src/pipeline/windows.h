// Long melodies through models that take fixed windows: windows overlap, their middles are kept and
// faded into one another.
//
// T frames of the whole piece, W window frames.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hum::pipeline {

struct WindowLayout {
  int64_t window_frames = 300;
  int64_t context_frames = 50;  // on each side of an inner window that only its neighbour keeps
  int64_t fade_frames = 20;     // of the kept parts, shared by two neighbours; at most 2 contexts

  // The piece begins and ends in a window's own edge: no context is lost there.
  int64_t hop_frames() const { return window_frames - 2 * context_frames; }
  int64_t windows(int64_t frames) const;
  int64_t first_frame(int64_t window) const { return window * hop_frames(); }
  // Where a window takes over from the one before: the fade lies in the middle of their overlap.
  int64_t fade_start(int64_t window) const {
    return window == 0 ? 0 : first_frame(window) + context_frames - fade_frames / 2;
  }
};

// A table put together from windows that come in order.
class Stitcher {
 public:
  Stitcher(int64_t frames, int64_t width, int64_t fade_frames);

  // A window that begins at first_frame takes over at fade_start from what was there, (linearly)
  // over fade_frames; at 0 there is nothing to fade from. Rows past the table's end are left out.
  // Shapes: part [n, width].
  void add(int64_t first_frame, std::span<const float> part, int64_t fade_start);
  // Shapes: [frames, width]. Rows that no window has reached are zero.
  const std::vector<float>& table() const { return table_; }
  std::vector<float> take() && { return std::move(table_); }

 private:
  int64_t frames_, width_, fade_frames_;
  std::vector<float> table_;
};

// What window `w` (from 0) makes of the rows from layout.first_frame(w) on.
// Shapes: -> [W * width].
using WindowFunction = std::function<std::vector<float>(int64_t window)>;

// All windows as one. Neighbours are cross-faded (linearly) over fade_frames in the middle of their
// overlap. Shapes: -> [frames * width].
std::vector<float> stitch(int64_t frames, int64_t width, const WindowLayout& layout,
                          const WindowFunction& window);

// Rows [first_row, first_row + rows) of a table; rows outside it are zero. Shapes: [n, width] ->
// [rows, width].
std::vector<float> cut_rows(std::span<const float> table, int64_t width, int64_t first_row,
                            int64_t rows);

}  // namespace hum::pipeline
