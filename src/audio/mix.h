// Gain and mixing of audio buffers.
#pragma once

#include "audio/buffer.h"

namespace hum::audio {

void apply_gain(AudioBuffer& buffer, double gain_db);

// Returns the sum. A mono buffer is added to all channels of the other; the shorter one is padded
// with silence. Rates must be equal, and so must channel counts unless one side is mono. Levels are
// not adjusted.
AudioBuffer mix(const AudioBuffer& a, const AudioBuffer& b);

}  // namespace hum::audio
