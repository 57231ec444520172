// Mixes sounds.
#pragma once

#include "audio/buffer.h"

namespace hum::audio {

void apply_gain(AudioBuffer& buffer, double gain_db);

// Returns the sum. A single channel is added to all channels of the other; the shorter sound is
// padded with silence. Rates must be equal; so must channels, unless one side has one. Levels are
// not adjusted.
AudioBuffer mix(const AudioBuffer& a, const AudioBuffer& b);

}  // namespace hum::audio
