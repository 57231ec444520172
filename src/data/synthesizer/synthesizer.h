// Our own synthesizer: subtractive and frequency modulation, 44.1 kHz stereo, for training material
// with timbres that no sound font has. Not for live playing: it renders whole parts.
#pragma once

#include <cstdint>
#include <span>

#include "audio/buffer.h"
#include "audio/notes.h"
#include "data/synthesizer/preset.h"

namespace hum::data {

// Renders notes with a preset. Loudness and, by preset, brightness follow the notes' amplitudes,
// pitch their bends. Notes start at 0 or later; the sound is cut at `seconds`. Its level is
// normalise_level's; silence stays silence. Folded-back partials below 16 kHz are at least 60 dB
// below the sound, 50 dB with drive. (seed, index) draw the oscillators' phases; the same call
// gives the same samples, on any thread. Shapes: [seconds * 44100, 2]. Throws: kFailure if a note
// starts before 0 or ends before it starts, or seconds is not positive.
audio::AudioBuffer render_synth(const SynthPreset& preset, std::span<const audio::Note> notes,
                                double seconds, uint64_t seed, uint64_t index);

}  // namespace hum::data
