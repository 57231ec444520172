// Cutting and joining notes with their bends.
#pragma once

#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

inline constexpr double kBendsPerSemitone = 3, kBendStep_s = 256.0 / 22050;

// When the bends of a note stand, s: its start, its end, and evenly between, about one a step.
std::vector<double> bend_times(const audio::Note& note);

// The part of a note within [start_s, end_s], a range inside the note.
audio::Note cut_note(const audio::Note& note, double start_s, double end_s);

// The note over other times; past its own its pitch stays what it was there.
audio::Note note_between(const audio::Note& note, double start_s, double end_s);

// One note from the start of `first` to the end of `second`, of the same pitch; a gap between them
// glides.
audio::Note join_notes(const audio::Note& first, const audio::Note& second);

}  // namespace hum::pipeline
