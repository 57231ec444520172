// Bytes in memory as the file that the decoders' callbacks read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "audio/sound_file_impl.h"

namespace hum::audio {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  int64_t position() const { return position_; }
  // Places past the end are allowed, as in a file. Returns the new position, -1 if there is none.
  int64_t seek(int64_t offset, int whence) {
    const int64_t start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position_ : size();
    int64_t target = 0;
    if (__builtin_add_overflow(start, offset, &target) || target < 0) return -1;
    return position_ = target;
  }
  int64_t read(void* to, int64_t count) {
    const int64_t got = std::clamp<int64_t>(size() - position_, 0, std::max<int64_t>(count, 0));
    if (got > 0) std::memcpy(to, bytes_.data() + position_, static_cast<size_t>(got));
    position_ += got;
    return got;
  }

 private:
  std::string_view bytes_;
  int64_t position_ = 0;
};

// The reader that a callback gets as its handle.
inline ByteReader& reader_of(void* handle) { return *static_cast<ByteReader*>(handle); }

// The reader must outlive the file.
inline SoundFile open_sound_bytes(ByteReader& reader, SF_INFO& info) {
  SF_VIRTUAL_IO calls{
      .get_filelen = [](void* handle) -> sf_count_t { return reader_of(handle).size(); },
      .seek = [](sf_count_t offset, int whence, void* handle) -> sf_count_t {
        return reader_of(handle).seek(offset, whence);
      },
      .read = [](void* to, sf_count_t count, void* handle) -> sf_count_t {
        return reader_of(handle).read(to, count);
      },
      .write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
      .tell = [](void* handle) -> sf_count_t { return reader_of(handle).position(); }};
  return SoundFile(sf_open_virtual(&calls, SFM_READ, &info, &reader));
}

}  // namespace hum::audio
