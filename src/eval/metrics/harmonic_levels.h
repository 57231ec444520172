// The levels of a tone's harmonics: its colour, whatever its loudness and pitch.
#pragma once

#include <array>
#include <span>

#include "eval/metrics/note_score.h"

namespace hum::eval {

// Of harmonics 1 to 10: dB relative to their sum, at least kHarmonicFloor_db.
using HarmonicLevels = std::array<double, 10>;
inline constexpr double kHarmonicFloor_db = -60;

// The mean over the notes of each harmonic's share of a note's power. A harmonic is the strongest
// peak within half a semitone of its place over the note's pitch (windows of 4096 samples). All are
// at the floor without notes, for silence, and above half the rate. Shapes: mono samples. Units:
// the pitch of a note is the one that sounds (`as_sung` of a recording, `as_played` of a melody).
HarmonicLevels harmonic_levels(std::span<const float> samples, int rate_hz,
                               std::span<const PitchedNote> notes);

}  // namespace hum::eval
