// How well a sound keeps the melody it was asked to play, as it is and against a ceiling.
#pragma once

#include <span>

#include "eval/harness/functions.h"

namespace hum::eval {

// How far a heard onset may lie from the requested one. A singer glides from note to note, and so
// does an instrument that follows: where such a note begins is not clear to 50 ms.
inline constexpr double kOnsetTolerance_s = 0.05, kSungOnsetTolerance_s = 0.1;

struct MelodyScore {
  double chroma = 0;   // chroma_accuracy
  double f1 = 0;       // of the transcriber's notes: onsets within kOnsetTolerance_s, 50 cents
  double f1_sung = 0;  // the same within kSungOnsetTolerance_s
};

// Each figure with one octave shift of the whole sound. `notes`: what was requested.
MelodyScore judge_melody(std::span<const float> samples, std::span<const audio::Note> notes,
                         const Transcriber& transcribe);

// Figure by figure, `score` divided by `ceiling`: what the real instrument reaches under the same
// judge. 0 where the ceiling is 0: nothing can be said there, so nothing passes.
MelodyScore of_ceiling(const MelodyScore& score, const MelodyScore& ceiling);

// Throws: kFailure without scores.
MelodyScore mean_of(std::span<const MelodyScore> scores);

}  // namespace hum::eval
