// FLAC files of 16 bits in memory, read in part: for shards, whose bytes are checked by their hash.
// Files of others: audio/io.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hum::audio {

// Interleaved samples. Compressed lightly, because training reads a file far more often than hum
// writes it. The same samples give the same bytes with one version of libFLAC.
std::string flac_file(std::span<const int16_t> samples, int rate_hz, int channels);

// Decodes the frames from `first_frame` on that fill `interleaved`; full scale is +-1.
// Throws: kBadData if the file is damaged, has another number of channels or ends before.
void read_flac(std::string_view file, int64_t first_frame, int channels,
               std::span<float> interleaved);

}  // namespace hum::audio
