// Cuts a window out of a piece, because every renderer of this folder takes notes on the window's
// clock.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// Moves all notes by `by_s` later and `semitones` higher. For a window that begins at t use
// shifted(notes, -t). Keeps notes that ended before the window, because their release and their
// features reach into it.
inline std::vector<audio::Note> shifted(std::span<const audio::Note> notes, double by_s,
                                        int semitones = 0) {
  std::vector<audio::Note> result(notes.begin(), notes.end());
  for (auto& note : result) {
    note.start_s += by_s;
    note.end_s += by_s;
    audio::transpose(note, semitones);
  }
  return result;
}

}  // namespace hum::data
