// Chooses the octave in which an instrument plays a melody.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "audio/notes.h"

namespace hum::pipeline {

// MIDI numbers, both included.
struct PitchRange {
  int low = 0, high = 127;
};

struct OctaveChoice {
  int octave = 0;      // to add to the melody
  std::string reason;  // for people
};

// Of the octaves that move at least 95 % of the melody into the range, takes the one nearest to the
// singer, the upper one of two. If there is no such octave, takes the one that moves the most into
// it. Notes vote by their length if they last at least 100 ms and their certainty is at least
// 0.5; if there are no such notes, all vote.
OctaveChoice choose_octave(std::span<const audio::Note> notes, const PitchRange& range);

// The range of an instrument of which only a clip is known: the notes of the clip that would vote,
// and an octave around them, not above F#7: models play higher notes badly. Absent if the clip has
// no notes.
std::optional<PitchRange> range_around(std::span<const audio::Note> clip);

}  // namespace hum::pipeline
