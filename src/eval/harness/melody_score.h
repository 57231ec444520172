// Scores how well a sound keeps the requested melody, by itself and relative to a ceiling.
#pragma once

#include <span>

#include "eval/harness/functions.h"

namespace hum::eval {

// Largest distance of a heard onset from the requested one. A singer glides from note to note, and
// so does an instrument that follows, so the start of such a note is not clear to 50 ms.
inline constexpr double kOnsetTolerance_s = 0.05, kSungOnsetTolerance_s = 0.1;

struct MelodyScore {
  double chroma = 0;   // chroma_accuracy
  double f1 = 0;       // of the transcriber's notes: onsets within kOnsetTolerance_s, 50 cents
  double f1_sung = 0;  // the same within kSungOnsetTolerance_s
};

// Allows each figure one octave shift of the whole sound. `notes`: the requested ones.
MelodyScore judge_melody(std::span<const float> samples, std::span<const audio::Note> notes,
                         const Transcriber& transcribe);

// Divides each figure of `score` by that of `ceiling`, the score of the real instrument under the
// same judge. 0 where the ceiling is 0, so that nothing passes without a valid ceiling.
MelodyScore of_ceiling(const MelodyScore& score, const MelodyScore& ceiling);

// Throws: kFailure without scores.
MelodyScore mean_of(std::span<const MelodyScore> scores);

}  // namespace hum::eval
