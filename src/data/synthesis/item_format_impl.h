// The bytes of an items file: layout structs, packing of an item, and the checked view of a mapped
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "data/synthesis/item_files.h"

namespace hum::data::internal {

inline constexpr std::string_view kItemsMagic = "HUMITEMS";
inline constexpr uint32_t kItemsVersion = 1;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t count;
  uint64_t first_index;
  uint64_t file_bytes;
  uint64_t fingerprint;  // of the options
};
static_assert(sizeof(FileHeader) == 40);

enum ItemFlag : uint32_t { kTranscribed = 1, kDefective = 2 };

// Followed by features, melody, played, target, reference, each padded to 8 bytes.
struct ItemHeader {
  uint64_t index;
  uint32_t preset, mode, flags;
  uint32_t feature_values;
  uint32_t melody_bytes, played_bytes;
  uint32_t target_samples, reference_samples;
};
static_assert(sizeof(ItemHeader) == 40);

// Header, table and items of one file.
std::string pack_file(std::span<const TrainingItem> items, uint64_t fingerprint);

// Whether `bytes` is a whole file of `count` items from `first_index` on with this fingerprint.
bool is_whole_file(std::string_view bytes, int64_t count, uint64_t first_index,
                   uint64_t fingerprint);

// Throws: kBadData when `bytes` is no whole items file.
FileHeader read_header(std::string_view bytes);

// Throws: kBadData when the item does not fit into the file.
ItemView read_item(std::string_view bytes, int64_t i);

}  // namespace hum::data::internal
