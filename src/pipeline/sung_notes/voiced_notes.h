// What a transcriber missed or heard an octave off, by the pitch of the voice: telephones take the
// fundamental away, and networks that look for it find nothing or an overtone.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// Notes whose voice is steadily three semitones or more away go where it is.
std::vector<audio::Note> at_voice(std::vector<audio::Note> notes, const VoiceTrack& track);

// `notes`, one line in order, and notes for what is voiced between them: steady, loud and 0.1 s
// long at least. Their amplitude is 1 - aperiodicity, their bends are the voice's.
std::vector<audio::Note> with_voiced(const std::vector<audio::Note>& notes,
                                     const VoiceTrack& track);

}  // namespace hum::pipeline
