// Cuts a recording into the network's windows, and joins the windows' frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/basic_pitch/posteriors.h"

namespace hum::models::basic_pitch {

// The number of windows of a recording of this length.
int64_t window_count(int64_t samples);

// The number of frames of it: 86 per second, although frames come at 86.13 per second.
int64_t frame_count(int64_t samples);

// Copies window `index` of the recording into `window`: window 0 starts 15 frames before the
// recording, each later one 36,164 samples further; missing samples are zero. Shapes: window
// [43,844].
void cut_window(std::span<const float> samples, int64_t index, std::span<float> window);

// Appends the middle 142 frames of one window's output to `joined`, up to its last row.
// Shapes: window_output [172, columns]; joined [frames, columns].
void join_window(std::span<const float> window_output, int64_t index, Matrix<float>& joined);

}  // namespace hum::models::basic_pitch
