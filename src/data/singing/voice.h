// The sound of a singer: harmonics of the glottis through a vocal tract that moves from vowel to
// vowel, breath, and the noise of consonants.
#pragma once

#include <cstdint>
#include <vector>

#include "data/singing/performance.h"
#include "data/singing/singer.h"

namespace hum::data {

// Renders a performance, without a room. Its level is normalise_level's.
// Shapes: [samples]. Units: 22,050 Hz.
std::vector<float> render_voice(const Performance& performance, const Singer& singer,
                                int64_t samples, uint64_t seed, uint64_t index);

}  // namespace hum::data
