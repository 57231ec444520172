#include "decode/container.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace hum::decode {
namespace {

uint64_t big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// Source: ISO/IEC 14496-12, 4.2 (boxes).
bool is_mp4_cut_off(std::string_view file) {
  constexpr uint64_t kShortHeader = 8, kLongHeader = 16;
  bool has_index = false;
  uint64_t offset = 0;
  while (offset + kShortHeader <= file.size()) {
    const std::string_view box = file.substr(offset);
    has_index = has_index || box.substr(4, 4) == "moov";
    uint64_t size = big_endian(box.substr(0, 4)), header = kShortHeader;
    if (size == 0) return !has_index;  // to the end of the file
    if (size == 1) {
      if (box.size() < kLongHeader) return true;
      size = big_endian(box.substr(8, 8));
      header = kLongHeader;
    }
    if (size < header) return false;  // damaged, which ffmpeg says
    if (size > box.size()) return true;
    offset += size;
  }
  return !has_index;
}

struct EbmlNumber {
  uint64_t value = 0;  // with the bits that state its length
  size_t bytes = 0;
  // All bits behind those of the length are set.
  bool is_unknown() const { return value == (uint64_t{1} << (7 * bytes + 1)) - 1; }
  uint64_t number() const { return value & ((uint64_t{1} << (7 * bytes)) - 1); }
};

// No number if the first byte is zero or the file ends inside it.
std::optional<EbmlNumber> ebml_number(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto length = static_cast<size_t>(std::countl_zero(static_cast<uint8_t>(bytes[0]))) + 1;
  if (length > 8 || length > bytes.size()) return std::nullopt;
  return EbmlNumber{big_endian(bytes.substr(0, length)), length};
}

// Walks all elements, entering those that hold the sound.
// Source: RFC 8794, sections 4 to 6; RFC 9559, section 5.1.
bool is_matroska_cut_off(std::string_view file) {
  constexpr uint64_t kSegment = 0x18538067, kCluster = 0x1f43b675;
  size_t offset = 0;
  while (offset < file.size()) {
    const auto id = ebml_number(file.substr(offset));
    if (!id) return file[offset] != 0;  // zero: damaged, which ffmpeg says
    const auto size = ebml_number(file.substr(offset + id->bytes));
    if (!size) return offset + id->bytes + 8 > file.size();
    offset += id->bytes + size->bytes;
    const bool is_entered = id->value == kSegment || id->value == kCluster;
    if (size->is_unknown()) {
      if (!is_entered) return false;
      continue;
    }
    if (size->number() > file.size() - offset) return true;
    if (!is_entered) offset += size->number();
  }
  return false;
}

}  // namespace

Container container_of(std::string_view file) {
  if (file.size() < 12) return Container::kNone;
  if (file.substr(4, 4) == "ftyp") return Container::kMp4;
  return file.starts_with("\x1a\x45\xdf\xa3") ? Container::kMatroska : Container::kNone;
}

Container container_in(const OpenFile& file) {
  std::array<char, 12> head{};
  const ssize_t read = ::pread(file.descriptor(), head.data(), head.size(), 0);
  return container_of(std::string_view(head.data(), read > 0 ? static_cast<size_t>(read) : 0));
}

std::string_view demuxer_name(Container container) {
  return container == Container::kMp4 ? "mov" : "matroska";
}

std::string_view user_name(Container container) {
  return container == Container::kMp4 ? "m4a" : "webm";
}

bool is_cut_off(Container container, std::string_view file) {
  return container == Container::kMp4 ? is_mp4_cut_off(file) : is_matroska_cut_off(file);
}

}  // namespace hum::decode
