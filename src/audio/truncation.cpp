#include <cstdint>
#include <cstring>
#include <optional>

#include "audio/truncation_impl.h"

namespace hum::audio {
namespace {

constexpr uint64_t kRiffBytes = 12, kChunkHeaderBytes = 8;

uint32_t little_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Programs that write to a pipe cannot know the size. They leave it all ones (ffmpeg), 2 GiB
// (arecord) or nearly so (SoX: 0x7ffff000).
bool is_size_known(uint32_t size) { return size < 0x7ffff000U; }

bool is_wav(std::string_view file) {
  return file.size() >= kRiffBytes && file.starts_with("RIFF") && file.substr(8, 4) == "WAVE";
}

struct DataChunk {
  uint64_t begin;  // of its samples in the file
  uint32_t size;   // as its header says
};

// Of a WAV; absent if it ends before one.
std::optional<DataChunk> data_chunk(std::string_view file) {
  uint64_t offset = kRiffBytes;
  while (offset + kChunkHeaderBytes <= file.size()) {
    const char* chunk = file.data() + offset;
    const uint32_t size = little_endian(chunk + 4);
    const uint64_t begin = offset + kChunkHeaderBytes;
    if (std::memcmp(chunk, "data", 4) == 0) return DataChunk{begin, size};
    offset = begin + size + (size & 1);
  }
  return std::nullopt;
}

bool is_wav_truncated(std::string_view file) {
  const auto data = data_chunk(file);
  return !data || (is_size_known(data->size) && data->begin + data->size > file.size());
}

bool is_ogg_truncated(std::string_view file) {
  constexpr size_t kLongestPage = 27 + 255 + 255 * 255;
  constexpr size_t kHeaderBytes = 27;
  const std::string_view tail =
      file.substr(file.size() > kLongestPage ? file.size() - kLongestPage : 0);
  const size_t page = tail.rfind("OggS");
  if (page == std::string_view::npos || page + kHeaderBytes > tail.size()) return true;
  const auto segments = static_cast<uint8_t>(tail[page + 26]);
  size_t end = page + kHeaderBytes + segments;
  if (end > tail.size()) return true;
  for (size_t i = page + kHeaderBytes; i < page + kHeaderBytes + segments; ++i) {
    end += static_cast<uint8_t>(tail[i]);
  }
  constexpr uint8_t kEndOfStream = 4;
  return end > tail.size() || (static_cast<uint8_t>(tail[page + 5]) & kEndOfStream) == 0;
}

}  // namespace

bool is_truncated(std::string_view file) {
  if (file.size() < kRiffBytes) return false;
  if (file.starts_with("OggS")) return is_ogg_truncated(file);
  return is_wav(file) && is_wav_truncated(file);
}

bool is_unfinished(std::string_view file) {
  if (!is_wav(file) || little_endian(file.data() + 4) != 0) return false;
  const auto data = data_chunk(file);
  return data && data->size == 0 && data->begin < file.size();
}

}  // namespace hum::audio
