// Tones beside the voice: other singers, instruments.
#pragma once

#include <optional>
#include <span>

#include "audio/notes.h"

namespace hum::pipeline {

// The share of the voice's time in which tones sound that are no harmonics of its note, 0..1.
// `notes`: of the voice, in order, with their pitches as sung; without overlap. Absent if they are
// too short to say. Units: mono at 22,050 Hz.
std::optional<double> other_tones(std::span<const float> samples,
                                  std::span<const audio::Note> notes);

}  // namespace hum::pipeline
