// Where notes begin, to a few milliseconds: from the level and the pitch of the voice, around the
// times that a transcriber's frames give.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// `notes`: one line, in order. A note that dips and comes back as loud as before was sung twice: it
// is parted at the dip.
std::vector<audio::Note> part_repeated(const std::vector<audio::Note>& notes,
                                       const VoiceTrack& track);

// Neighbours of one pitch, the voice between them going on, become one note.
std::vector<audio::Note> join_unbroken(const std::vector<audio::Note>& notes,
                                       const VoiceTrack& track);

// Each onset moves to where the level begins to rise towards the note; where it does not rise, to
// where the pitch leaves that of the note before; where neither says anything, it stays. The note
// before ends there at the latest.
std::vector<audio::Note> at_onsets(std::vector<audio::Note> notes, const VoiceTrack& track);

}  // namespace hum::pipeline
