// How well a sound keeps the melody it was asked to play, as it is and against a ceiling.
#pragma once

#include <span>

#include "eval/harness/functions.h"

namespace hum::eval {

struct MelodyScore {
  double chroma = 0;  // chroma_accuracy
  double f1 = 0;      // of the transcriber's notes: onsets within 50 ms, 50 cents
};

// Both figures with one octave shift of the whole sound each. `notes`: what was requested.
MelodyScore judge_melody(std::span<const float> samples, std::span<const audio::Note> notes,
                         const Transcriber& transcribe);

// Figure by figure, `score` divided by `ceiling`: what the real instrument reaches under the same
// judge. 0 where the ceiling is 0: nothing can be said there, so nothing passes.
MelodyScore of_ceiling(const MelodyScore& score, const MelodyScore& ceiling);

// Throws: kFailure without scores.
MelodyScore mean_of(std::span<const MelodyScore> scores);

}  // namespace hum::eval
