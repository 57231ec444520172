// Pitch bends of made-up notes, in Basic Pitch's form: thirds of a semitone, one per 256 samples.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "base/rng.h"

namespace hum::data::internal {

// Vibrato, a glide from the note before (may be null) or a scoop from below, a fall at the end:
// some of them, or none.
std::vector<int> draw_bends(Rng& rng, const audio::Note& note, const audio::Note* before);

// After a note's end has moved: drops the bends that lie past it, or repeats the last one.
void trim_bends(audio::Note& note, double length_before_s);

}  // namespace hum::data::internal
