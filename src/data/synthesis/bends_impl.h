// Makes pitch bends of synthetic notes in Basic Pitch's form: thirds of a semitone, one per 256
// samples.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "base/rng.h"

namespace hum::data::internal {

// Adds some or none of these: vibrato, a glide from the note before (may be null) or a scoop from
// below, a fall at the end.
std::vector<int> draw_bends(Rng& rng, const audio::Note& note, const audio::Note* before);

// Adapts the bends to a moved end of the note: drops those after it, or repeats the last one.
void trim_bends(audio::Note& note, double length_before_s);

}  // namespace hum::data::internal
