// What a lossy codec leaves of a sound: encodes and decodes it in memory.
#pragma once

#include <span>
#include <vector>

namespace hum::audio {

enum class Lossy { kOpus, kMp3 };

// One channel through the codec at about this bit rate: kbit/s, 6 to 256 for Opus (variable around
// it), 8 to 160 for MP3 (the nearest rate of the format). Opus computes at 24 kHz here, MP3 at the
// rate of the sound, which must be one of the format's (16 to 24 kHz).
// Costs about 10 ms of one core per second of sound for Opus, 3 ms for MP3.
// Shapes: as many samples as came in, aligned with them.
std::vector<float> through_codec(std::span<const float> samples, int rate_hz, Lossy codec,
                                 double kbps);

}  // namespace hum::audio
