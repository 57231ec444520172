// Renders a melody as sines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// The smallest gap between adjacent notes. Each onset also gets a decaying accent. Without both,
// Basic Pitch hears repeated and slurred notes as one.
inline constexpr double kSineGap_s = 0.040;

// Renders one sine per note that follows its amplitude and bends. Cuts a note that touches the next
// one kSineGap_s before it, but to no less than half its length. Notes may start before 0 and end
// after the last sample. Shapes: [samples]. Units: 22,050 Hz.
std::vector<float> render_sine(std::span<const audio::Note> notes, int64_t samples);

}  // namespace hum::data
