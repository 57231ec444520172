// Reduces overlapping notes (harmonics heard as notes, octave doublings, breaks) to one melody
// line.
#pragma once

#include <span>
#include <vector>

#include "pipeline/transcription.h"

namespace hum::pipeline {

struct MelodyLineOptions {
  // Costs in nats, weighed against the log of the salience summed over frames.
  double switch_cost = 2;       // leaving a note that still sounds
  double octave_jump_cost = 4;  // by 12, 19 or 24 semitones: most of these are harmonics
  double semitone_cost = 0.05;  // of a step, up to two octaves
  // Fragments of one pitch with a smaller gap become one note, unless the second has its own onset.
  double merge_gap_s = 0.060;
  double onset_threshold = 0.5;
  double min_note_s = 0.070;
};

// The notes of the best path through time: each moment belongs to one note that sounds then. A path
// scores by the salience of its notes (or their amplitude, if there is no salience), leaps, and
// octave jumps. Cuts notes where the path leaves them. The result is in order without overlaps.
std::vector<audio::Note> melody_line(const Transcription& transcription,
                                     const MelodyLineOptions& options = {});

}  // namespace hum::pipeline
