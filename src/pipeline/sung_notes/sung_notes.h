// Finds the notes of one voice: reduces a transcription to one line and corrects it by the sound.
// This is the only header of the folder that others include. It calls, in this order: voice_track
// (level and pitch of the voice), melody_line (one line of the transcription), voiced_notes (missed
// notes), note_onsets, voice_bends; note_pieces cuts and joins notes for them.
#pragma once

#include <span>
#include <vector>

#include "pipeline/transcription.h"

namespace hum::pipeline {

// Takes the melody_line of the transcription, adds missed notes, splits repeated notes, joins
// unbroken ones, and takes onsets and bends from the voice. In unvoiced parts the line only changes
// by onsets at clear rises of the level. `samples`: those that were transcribed. Training items and
// generation both read hums with it; the same arguments give the same notes.
std::vector<audio::Note> sung_notes(std::span<const float> samples,
                                    const Transcription& transcription);

}  // namespace hum::pipeline
