// Detects truncated sound files, which libsndfile reads without complaint.
#pragma once

#include <string_view>

namespace hum::audio {

// `file`: its bytes. Returns true if a RIFF/WAVE file's data chunk reaches past its end, or an Ogg
// file's last page does not end the stream. Returns false for other formats: their decoders detect
// it themselves.
bool is_truncated(std::string_view file);

// Whether a RIFF/WAVE file has samples but says that it has none: its recorder was stopped before
// it wrote the sizes.
bool is_unfinished(std::string_view file);

}  // namespace hum::audio
