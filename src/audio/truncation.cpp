#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "audio/truncation_impl.h"

namespace hum::audio {
namespace {

uint32_t little_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// Programs that write to a pipe leave the size zero or all ones, which means "until the end".
bool is_size_known(uint32_t size) { return size != 0 && size < 0xfffff000u; }

bool is_wav_truncated(std::ifstream& in, uint64_t file_bytes) {
  uint64_t offset = 12;
  std::array<char, 8> chunk{};
  while (offset + chunk.size() <= file_bytes) {
    in.seekg(static_cast<std::streamoff>(offset));
    if (!in.read(chunk.data(), chunk.size())) return true;
    const uint32_t size = little_endian(chunk.data() + 4);
    const uint64_t end = offset + chunk.size() + size;
    if (std::memcmp(chunk.data(), "data", 4) == 0) return is_size_known(size) && end > file_bytes;
    offset = end + (size & 1);
  }
  return true;  // no data chunk at all
}

bool is_ogg_truncated(std::ifstream& in, uint64_t file_bytes) {
  constexpr uint64_t kLongestPage = 27 + 255 + 255 * 255;
  constexpr size_t kHeaderBytes = 27;
  const uint64_t start = file_bytes > kLongestPage ? file_bytes - kLongestPage : 0;
  std::string tail(static_cast<size_t>(file_bytes - start), '\0');
  in.seekg(static_cast<std::streamoff>(start));
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  const size_t page = tail.rfind("OggS");
  if (page == std::string::npos || page + kHeaderBytes > tail.size()) return true;
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

bool is_truncated(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 12> head{};
  if (!in.read(head.data(), head.size())) return false;
  const uint64_t file_bytes = std::filesystem::file_size(path);
  if (std::memcmp(head.data(), "OggS", 4) == 0) return is_ogg_truncated(in, file_bytes);
  const bool is_wav =
      std::memcmp(head.data(), "RIFF", 4) == 0 && std::memcmp(head.data() + 8, "WAVE", 4) == 0;
  return is_wav && is_wav_truncated(in, file_bytes);
}

}  // namespace hum::audio
