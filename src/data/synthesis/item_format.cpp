#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "data/synthesis/item_format_impl.h"

namespace hum::data::internal {
namespace {

static_assert(std::endian::native == std::endian::little, "items files are little-endian");

constexpr size_t kAlign = 8;
size_t padded(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

template <typename T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void append_block(std::string& out, std::span<const T> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  out.resize(padded(out.size()), '\0');
}

// Per note: start, end, amplitude (float64), pitch and number of bends (int32), then the bends
// (int8).
std::string pack_notes(std::span<const audio::Note> notes) {
  std::string out;
  append(out, static_cast<uint64_t>(notes.size()));
  for (const auto& note : notes) {
    append(out, note.start_s);
    append(out, note.end_s);
    append(out, note.amplitude);
    append(out, static_cast<int32_t>(note.pitch));
    append(out, static_cast<int32_t>(note.bends.size()));
    for (const int bend : note.bends) append(out, static_cast<int8_t>(std::clamp(bend, -127, 127)));
    out.resize(padded(out.size()), '\0');
  }
  return out;
}

std::vector<int16_t> to_int16(std::span<const float> samples) {
  std::vector<int16_t> result(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    result[i] = static_cast<int16_t>(std::lround(std::clamp(samples[i], -1.0F, 1.0F) * 32767));
  }
  return result;
}

void append_item(std::string& out, const TrainingItem& item) {
  const std::string melody = pack_notes(item.melody);
  const std::string played = pack_notes(item.played);
  append(out,
         ItemHeader{
             .index = item.index,
             .preset = static_cast<uint32_t>(item.preset),
             .mode = static_cast<uint32_t>(item.mode),
             .flags = (item.transcribed ? kTranscribed : 0U) | (item.defective ? kDefective : 0U),
             .feature_values = static_cast<uint32_t>(item.features.size()),
             .melody_bytes = static_cast<uint32_t>(melody.size()),
             .played_bytes = static_cast<uint32_t>(played.size()),
             .target_samples = static_cast<uint32_t>(item.target.size()),
             .reference_samples = static_cast<uint32_t>(item.reference.size()),
         });
  append_block<float>(out, item.features);
  append_block<char>(out, melody);
  append_block<char>(out, played);
  append_block<int16_t>(out, to_int16(item.target));
  append_block<int16_t>(out, to_int16(item.reference));
}

[[noreturn]] void damaged(std::string_view what) {
  fail(ExitCode::kBadData, fmt::format("damaged items file: {}", what),
       "render it again: delete the file and repeat the rendering");
}

// Reads forward through a file and refuses to pass its end. The file is mapped, so blocks are
// aligned in memory.
class Reader {
 public:
  Reader(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}

  template <typename T>
  std::span<const T> block(size_t count) {
    const size_t size = count * sizeof(T);
    if (at_ > bytes_.size() || size > bytes_.size() - at_) damaged("it ends too early");
    const auto* first = reinterpret_cast<const T*>(bytes_.data() + at_);
    at_ += padded(size);
    return {first, count};
  }

  template <typename T>
  T value() {
    T result;
    const auto bytes = block<char>(sizeof(T));
    at_ -= padded(sizeof(T)) - sizeof(T);
    std::memcpy(&result, bytes.data(), sizeof(T));
    return result;
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

std::vector<audio::Note> unpack_notes(std::span<const char> bytes) {
  Reader reader({bytes.data(), bytes.size()}, 0);
  const auto count = reader.value<uint64_t>();
  if (count > bytes.size() / 32) damaged("too many notes");
  std::vector<audio::Note> notes(count);
  for (auto& note : notes) {
    note.start_s = reader.value<double>();
    note.end_s = reader.value<double>();
    note.amplitude = reader.value<double>();
    note.pitch = reader.value<int32_t>();
    const auto bends = reader.block<int8_t>(static_cast<uint32_t>(reader.value<int32_t>()));
    note.bends.assign(bends.begin(), bends.end());
  }
  return notes;
}

}  // namespace

std::string pack_file(std::span<const TrainingItem> items, uint64_t fingerprint) {
  HUM_REQUIRE(!items.empty(), "pack_file: no items");
  const size_t table_at = sizeof(FileHeader);
  std::string out(table_at + items.size() * sizeof(uint64_t), '\0');
  std::vector<uint64_t> offsets;
  for (const auto& item : items) {
    offsets.push_back(out.size());
    append_item(out, item);
  }
  FileHeader header{.magic = {},
                    .version = kItemsVersion,
                    .count = static_cast<uint32_t>(items.size()),
                    .first_index = items.front().index,
                    .file_bytes = out.size(),
                    .fingerprint = fingerprint};
  std::ranges::copy(kItemsMagic, header.magic);
  std::memcpy(out.data(), &header, sizeof header);
  std::memcpy(out.data() + table_at, offsets.data(), offsets.size() * sizeof(uint64_t));
  return out;
}

FileHeader read_header(std::string_view bytes) {
  auto header = Reader(bytes, 0).value<FileHeader>();
  if (std::string_view(header.magic, sizeof header.magic) != kItemsMagic) damaged("no magic");
  if (header.version != kItemsVersion) damaged(fmt::format("version {}", header.version));
  if (header.file_bytes != bytes.size()) damaged("its size is not the written one");
  return header;
}

bool is_whole_file(std::string_view bytes, int64_t count, uint64_t first_index,
                   uint64_t fingerprint) {
  if (bytes.size() < sizeof(FileHeader)) return false;
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return std::string_view(header.magic, sizeof header.magic) == kItemsMagic &&
         header.version == kItemsVersion && header.file_bytes == bytes.size() &&
         header.count == count && header.first_index == first_index &&
         header.fingerprint == fingerprint;
}

ItemView read_item(std::string_view bytes, int64_t i) {
  const auto header = read_header(bytes);
  HUM_REQUIRE(i >= 0 && i < header.count, "item {} of {}", i, header.count);
  const auto table = Reader(bytes, sizeof(FileHeader)).block<uint64_t>(header.count);
  Reader reader(bytes, table[i]);
  const auto item = reader.value<ItemHeader>();
  ItemView view;
  view.index = item.index;
  view.preset = static_cast<int>(item.preset);
  view.mode = static_cast<Mode>(item.mode);
  view.transcribed = (item.flags & kTranscribed) != 0;
  view.defective = (item.flags & kDefective) != 0;
  view.features = reader.block<float>(item.feature_values);
  view.melody = unpack_notes(reader.block<char>(item.melody_bytes));
  view.played = unpack_notes(reader.block<char>(item.played_bytes));
  view.target = reader.block<int16_t>(item.target_samples);
  view.reference = reader.block<int16_t>(item.reference_samples);
  return view;
}

}  // namespace hum::data::internal
