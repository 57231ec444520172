// Notes moved onto a grid of beats, and pitches drawn to their notes: as much as is asked for.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

struct QuantiseOptions {
  double grid_beats = 0.25;  // distance of two lines: 0.25 is a sixteenth where a beat is a quarter
  double strength = 1;       // 0: nothing moves, 1: all the way
  // Where the second line of each pair lies between its neighbours: 0.5 straight, 2/3 triplets.
  double swing = 0.5;
};

// Onsets move to the nearest line. Of several that share one, the nearest takes it and the others
// move along with it, so no note is lost and none overtakes another. An end stays as far from the
// next onset as it was, in beats: what was legato stays legato; ends before a pause move to a line.
// Bends and amplitudes are kept. Order: as given.
std::vector<audio::Note> quantise(std::span<const audio::Note> notes, const Tempo& tempo,
                                  const QuantiseOptions& options);

// The same melody at another tempo, stretched about its first beat; it never starts before 0.
std::vector<audio::Note> at_tempo(std::span<const audio::Note> notes, const Tempo& from,
                                  double to_bpm);

// Bends shrunk: 0 keeps them, 1 leaves exact pitches.
void correct_pitch(std::span<audio::Note> notes, double strength);

}  // namespace hum::pipeline
