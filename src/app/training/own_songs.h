// hum's own songs, as training material for separation: a composed melody with the accompaniment
// that hum arranges under a hum.
#pragma once

#include <cstdint>

#include "audio/midi.h"
#include "data/stems/stem_options.h"

namespace hum::app {

// Song (seed, index) of a split, of about a minute, with the parts lead, bass, chords and drums. A
// data::ComposeSong.
audio::MidiSong compose_song(data::Split split, uint64_t seed, uint64_t index);

}  // namespace hum::app
