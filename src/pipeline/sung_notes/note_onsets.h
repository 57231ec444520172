// Finds note onsets to a few milliseconds from the level and the pitch of the voice, near the times
// of a transcriber's frames.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// Splits a note at a dip after which it is as loud as before, because it was sung twice. `notes`:
// one line, in order.
std::vector<audio::Note> part_repeated(const std::vector<audio::Note>& notes,
                                       const VoiceTrack& track);

// Joins neighbours of one pitch if the voice continues between them.
std::vector<audio::Note> join_unbroken(const std::vector<audio::Note>& notes,
                                       const VoiceTrack& track);

// Moves each onset to the time when the level begins to rise towards the note; if it does not rise,
// to the time when the pitch leaves that of the previous note; else keeps it. The previous note
// ends there at the latest.
std::vector<audio::Note> at_onsets(std::vector<audio::Note> notes, const VoiceTrack& track);

}  // namespace hum::pipeline
