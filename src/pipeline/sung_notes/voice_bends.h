// Reads the bends of notes from the voice.
#pragma once

#include <vector>

#include "audio/notes.h"
#include "pipeline/sung_notes/voice_track.h"

namespace hum::pipeline {

// Replaces the transcriber's bends, whose steps of a third of a semitone flicker, by those of the
// track. A note stays on a step until the voice is 25 cents away from it, so drift and the tremor
// of a steady voice are not bends, but vibrato and slow glides are. The first 0.12 s, when the
// voice only moves from the last pitch to this one, are not a bend either, because an instrument
// that follows them smears its onsets. Unvoiced notes keep their bends.
std::vector<audio::Note> with_voice_bends(std::vector<audio::Note> notes, const VoiceTrack& track);

}  // namespace hum::pipeline
