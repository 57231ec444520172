// How fast notes die away: plucked and struck ones do, blown and bowed ones do not.
#pragma once

#include <optional>
#include <span>

#include "eval/metrics/note_score.h"

namespace hum::eval {

// The time over which the fall is measured.
inline constexpr double kFall_s = 0.3;

// The median over the notes of how many dB the level (envelope.h) falls in kFall_s after the
// loudest moment of the attack, which is the first 0.1 s. Notes that end before that do not count;
// absent if none is long enough or the sound is silent. Shapes: mono samples.
std::optional<double> level_fall_db(std::span<const float> samples, int rate_hz,
                                    std::span<const PitchedNote> notes);

}  // namespace hum::eval
