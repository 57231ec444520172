// Melodies that repeat without an end: a length of whole bars, and sound whose last tail rings on
// in its beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

// [start_s, start_s + length_s) of the melody's time.
struct Loop {
  double start_s = 0, length_s = 0;
  int64_t bars = 0;
};

// From the first beat, as many bars as hold the melody: one at least. A last note that goes on into
// the next bar by less than half a beat does not ask for another.
Loop loop_of(std::span<const audio::Note> notes, const Tempo& tempo, int64_t beats_per_bar);

// What is heard from the second round on when the sound is played again every length_s: all of it,
// added up modulo the length. Played end to end it has no seam but the sound's own.
// Shapes: interleaved [n, channels] -> [length_s * rate_hz, channels].
std::vector<float> wrap(std::span<const float> samples, int rate_hz, const Loop& loop,
                        int channels = 1);

// The notes of one round: those before the start come at its end. In order of start.
std::vector<audio::Note> wrap_notes(std::span<const audio::Note> notes, const Loop& loop);

}  // namespace hum::pipeline
