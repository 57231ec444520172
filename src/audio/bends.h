// Pitch bends of audio::Note: whole thirds of a semitone at even steps.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::audio {

inline constexpr double kBendsPerSemitone = 3, kBendStep_s = 256.0 / 22050;

// The times of a note's bends in seconds: its start, its end, and evenly spaced between, about one
// per step.
std::vector<double> bend_times(const Note& note);

// The bends of a sung note from its pitch at bend_times, in thirds of a semitone above the note's
// pitch. A bend changes only when the pitch has clearly left the last one. A short glide into the
// note is left out: it is the transition from the note before.
std::vector<int> sung_bends(std::span<const double> thirds);

// Moves all bends; a note without bends gets some unless `thirds` is 0.
void shift_bends(Note& note, int thirds);

}  // namespace hum::audio
