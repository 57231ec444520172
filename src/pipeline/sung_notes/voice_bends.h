// Bends of notes as the voice sings them.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// Bends read from the track instead of the transcriber's, whose steps of a third of a semitone
// flicker: a note stays on a step until the voice is 25 cents away from it, so that drift and the
// tremor of a steady voice are no bends, vibrato and slow glides are. The first 0.12 s, when the
// voice only moves from the last pitch to this one, are no bend either: an instrument that follows
// smears its onsets. Notes that are not voiced keep theirs.
std::vector<audio::Note> with_voice_bends(std::vector<audio::Note> notes, const VoiceTrack& track);

}  // namespace hum::pipeline
