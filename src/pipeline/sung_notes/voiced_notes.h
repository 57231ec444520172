// Restores notes that a transcriber missed or heard an octave off, by the pitch of the voice.
// Telephones remove the fundamental, so networks that look for it find nothing or an overtone.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// Moves notes to the pitch of the voice if it is steadily three or more semitones away.
std::vector<audio::Note> at_voice(std::vector<audio::Note> notes, const VoiceTrack& track);

// Adds notes for voiced parts between `notes` (one line, in order) that are steady, loud and at
// least 0.1 s long. Their amplitude is 1 - aperiodicity, and their bends are the voice's.
std::vector<audio::Note> with_voiced(const std::vector<audio::Note>& notes,
                                     const VoiceTrack& track);

}  // namespace hum::pipeline
