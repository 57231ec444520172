// RAII over libsndfile's handle.
#pragma once

#include <sndfile.h>

#include <filesystem>
#include <memory>

namespace hum::audio {

struct CloseSoundFile {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using SoundFile = std::unique_ptr<SNDFILE, CloseSoundFile>;

inline SoundFile open_sound_file(const std::filesystem::path& path, int mode, SF_INFO& info) {
  return SoundFile(sf_open(path.c_str(), mode, &info));
}

// Blocks small enough for libvorbis, which keeps a whole write on the stack.
constexpr sf_count_t kBlockFrames = 16384;

}  // namespace hum::audio
