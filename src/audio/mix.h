// Sounds on top of one another.
#pragma once

#include "audio/buffer.h"

namespace hum::audio {

void apply_gain(AudioBuffer& buffer, double gain_db);

// The sum. A single channel goes to all channels of the other; the shorter sound is followed by
// silence. Rates must agree; channels must, unless one side has one. Not here: levels.
AudioBuffer mix(const AudioBuffer& a, const AudioBuffer& b);

}  // namespace hum::audio
