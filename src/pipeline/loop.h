// Makes melodies repeat seamlessly: a length of whole bars, and sound whose tail is mixed into its
// beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

// The part [start_s, start_s + length_s) of the melody's time.
struct Loop {
  double start_s = 0, length_s = 0;
  int64_t bars = 0;
};

// From the first beat, as many bars as hold the melody, at least one. A last note that reaches into
// the next bar by less than half a beat does not add a bar.
Loop loop_of(std::span<const audio::Note> notes, const Tempo& tempo, int64_t beats_per_bar);

// The sound from the second round on when it is played again every length_s: the whole sound, added
// up modulo the length. Played end to end, the result has no added seam.
// Shapes: interleaved [n, channels] -> [length_s * rate_hz, channels].
std::vector<float> wrap(std::span<const float> samples, int rate_hz, const Loop& loop,
                        int channels = 1);

// The notes of one round in order of start; notes before the start move to its end.
std::vector<audio::Note> wrap_notes(std::span<const audio::Note> notes, const Loop& loop);

}  // namespace hum::pipeline
