// Single notes cut out of a sound, and a sampler that plays melodies with them: a floor for models,
// which must do more than repeat what they were given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::eval {

// Mono at 22,050 Hz, from the onset on.
struct NoteSample {
  int pitch = 60;  // MIDI
  double amplitude = 0.8;
  std::vector<float> samples;
};

// Cuts each note from its start to the start of the next one, so that it keeps its release, or to
// the end of the sound. Leaves out notes that start after the end. Shapes: mono at 22,050 Hz.
std::vector<NoteSample> cut_notes(std::span<const float> samples,
                                  std::span<const audio::Note> notes);

// Plays each note with the sample that is nearest in pitch, of equal ones the nearest in loudness:
// resampled to the pitch (without bends), as loud as the note, faded out after its end. A note is
// at most as long as its sample. Silence without samples. Shapes: -> [size], mono at 22,050 Hz.
std::vector<float> play_samples(std::span<const NoteSample> bank,
                                std::span<const audio::Note> notes, int64_t size);

}  // namespace hum::eval
