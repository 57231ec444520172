// Tells sound files that were cut off, which libsndfile reads without complaint.
#pragma once

#include <cstdint>
#include <filesystem>

namespace hum::audio {

// True when a RIFF/WAVE file's data chunk reaches past its end, or an Ogg file's last page does not
// end the stream. False for other formats: their decoders notice themselves.
bool is_truncated(const std::filesystem::path& path);

}  // namespace hum::audio
