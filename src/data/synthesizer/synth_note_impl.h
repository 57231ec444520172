// One note of the synthesizer.
#pragma once

#include <span>

#include "audio/notes.h"
#include "base/rng.h"
#include "data/synthesizer/preset.h"

namespace hum::data::internal {

// Adds a note that starts at 0 or later to stereo sound, without drive. `glide_semitones`: where
// its pitch comes from, relative to its own; used if the preset glides. `rng` draws the
// oscillators' phases. Shapes: [frames, 2]. Units: 44,100 Hz.
void add_synth_note(const SynthPreset& preset, const audio::Note& note, double glide_semitones,
                    Rng& rng, std::span<float> out);

}  // namespace hum::data::internal
