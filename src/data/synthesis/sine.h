// The melody as a listener with one oscillator would play it: the "sine" stream of the seeds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// Adjacent notes get a gap of at least this, and each onset a decaying accent: without both, Basic
// Pitch hears repeated and slurred notes as one.
inline constexpr double kSineGap_s = 0.040;

// One sine a note, as loud as its amplitude, following its bends. A note that touches the next one
// is cut kSineGap_s before it, to no less than half its length. Notes may start before 0 and end
// after the last sample. Shapes: [samples]. Units: 22,050 Hz.
std::vector<float> render_sine(std::span<const audio::Note> notes, int64_t samples);

}  // namespace hum::data
