// Moves notes towards a grid of beats, and bends towards exact pitches, by a given amount.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

struct QuantiseOptions {
  double grid_beats = 0.25;  // distance of two lines: 0.25 is a sixteenth if a beat is a quarter
  double strength = 1;       // 0: nothing moves, 1: all the way
  // Position of the second line of each pair between its neighbours: 0.5 straight, 2/3 triplets.
  double swing = 0.5;
};

// Moves onsets to the nearest line. If several share a line, the nearest takes it and the others
// move by the same amount, so that no note is lost and none overtakes another. An end keeps its
// distance from the next onset in beats, so legato stays legato; ends before a pause move to a
// line. Keeps bends, amplitudes and the order.
std::vector<audio::Note> quantise(std::span<const audio::Note> notes, const Tempo& tempo,
                                  const QuantiseOptions& options);

// Stretches the melody to another tempo about its first beat; it never starts before 0.
std::vector<audio::Note> at_tempo(std::span<const audio::Note> notes, const Tempo& from,
                                  double to_bpm);

// Scales bends down: 0 keeps them, 1 leaves exact pitches.
void correct_pitch(std::span<audio::Note> notes, double strength);

}  // namespace hum::pipeline
