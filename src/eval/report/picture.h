// A picture of a sound: its spectrogram over pitch, and the notes that were asked for drawn over
// it, as one SVG file.
#pragma once

#include <span>
#include <string>

#include "audio/notes.h"

namespace hum::eval {

// Pitch upwards from 55 Hz in half semitones, time to the right, 60 dB of range; notes (with their
// bends) as lines. Shapes: mono samples.
std::string picture_svg(std::span<const float> samples, int rate_hz,
                        std::span<const audio::Note> notes);

}  // namespace hum::eval
