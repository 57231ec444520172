// Cuts and joins notes with their bends.
#pragma once

#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

// The part of a note within [start_s, end_s], a range inside the note.
audio::Note cut_note(const audio::Note& note, double start_s, double end_s);

// The note with other times; beyond its own times its pitch stays constant.
audio::Note note_between(const audio::Note& note, double start_s, double end_s);

// One note from the start of `first` to the end of `second`, of the same pitch; the pitch glides
// over a gap between them.
audio::Note join_notes(const audio::Note& first, const audio::Note& second);

}  // namespace hum::pipeline
