// Detects truncated sound files, which libsndfile reads without complaint.
#pragma once

#include <cstdint>
#include <filesystem>

namespace hum::audio {

// Returns true if a RIFF/WAVE file's data chunk reaches past its end, or an Ogg file's last page
// does not end the stream. Returns false for other formats: their decoders detect it themselves.
bool is_truncated(const std::filesystem::path& path);

}  // namespace hum::audio
