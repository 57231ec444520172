// The notes of one voice: what a transcriber heard, made one line, and put right by what the sound
// itself says. The only header of this folder that others include. It calls, in this order:
// voice_track (level and pitch of the voice), melody_line (one line of the transcription),
// voiced_notes (what was missed), note_onsets, voice_bends; note_pieces cuts and joins for them.
#pragma once

#include <span>
#include <vector>

#include "pipeline/transcription.h"

namespace hum::pipeline {

// melody_line of the transcription; what it missed added, repeated notes parted, unbroken ones
// joined; onsets and bends from the voice. Where nothing is voiced, the line stays as it is but for
// onsets at clear rises of the level. `samples` are those that were transcribed. Training items and
// generation read hums by it: the same arguments, the same notes.
std::vector<audio::Note> sung_notes(std::span<const float> samples,
                                    const Transcription& transcription);

}  // namespace hum::pipeline
