// Makes notes with bends, as instruments play them, of the notes that the ear's decoder found.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"
#include "models/ear/decoder.h"

namespace hum::models::ear {

// Written pitches; no two notes overlap, and slurred ones touch. The bends follow the pitch that
// was sung, from the singer's tuning, so that a melody that was sung out of tune with A = 440 Hz
// plays in tune. Amplitudes are left to the caller, who has the sound.
std::vector<audio::Note> played_notes(const Frames& frames, std::span<const HeardNote> heard);

// The tuning of the melody, in cents above A = 440 Hz: the mean over its notes by their length.
double mean_tuning_cents(std::span<const HeardNote> heard);

}  // namespace hum::models::ear
