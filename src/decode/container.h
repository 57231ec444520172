// Recognises the containers that only ffmpeg reads, and those of them that are cut off.
#pragma once

#include <string_view>

#include "base/open_file.h"

namespace hum::decode {

enum class Container {
  kNone,      // libsndfile's or libmpg123's, or nothing that hum reads
  kMp4,       // m4a, mp4, mov
  kMatroska,  // webm, mkv
};

// By the first 12 bytes.
Container container_of(std::string_view file);
// The same of an open file; kNone if it cannot be read.
Container container_in(const OpenFile& file);

// What ffmpeg's -f and people call it.
std::string_view demuxer_name(Container container);
std::string_view user_name(Container container);

// Whether a part of the file reaches past its end, or its index is missing. Browsers record webm
// without the sizes of its larger parts: there, a cut between two blocks of sound goes unnoticed.
bool is_cut_off(Container container, std::string_view file);

}  // namespace hum::decode
