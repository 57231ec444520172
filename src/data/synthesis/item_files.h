// Rendered items on disk, so that every training reads the same hours without rendering them again.
//
// A folder holds items.json (version, options, preset names, counts) and items-00000.bin, ... Each
// file holds items_per_file items: a header (magic "HUMITEMS", version, count, first index, file
// size, fingerprint of the options), a table of offsets, then per item a header, features
// (float32), notes, and target and reference as int16. Little-endian, every block 8-byte aligned.
// Files are written aside, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/synthesis/items.h"

namespace hum::data {

struct WriteOptions {
  ItemOptions items;
  int64_t count = 12000;  // 20 hours
  int64_t items_per_file = 64;
  int64_t threads = 0;  // 0: compute_threads()

  template <class V>
  void visit_fields(V& v) {
    v("items", items, "what is rendered");
    v("count", count, "items of 6 s; 12000 are 20 hours");
    v("items_per_file", items_per_file, "items in one file");
    v("threads", threads, "rendering threads; 0: all");
  }
};

// Renders what is missing: files that are whole and of the same options are kept, so an interrupted
// call is simply repeated, and a larger count later adds to what is there. Shows progress. Throws:
// kUsage when the folder holds items of other options, kCannotCreate when it cannot be written.
void write_items(const std::filesystem::path& folder, const WriteOptions& options,
                 const Transcriber& transcriber = {});

// One item as it lies in its mapped file; valid as long as its ItemFolder. Copies and decodes only
// what is asked for.
struct ItemView {
  uint64_t index = 0;
  int preset = 0;  // index into ItemFolder::presets()
  Mode mode = Mode::kIonian;
  bool transcribed = false;
  bool defective = false;
  std::span<const int16_t> target;     // [kItemSamples]; int16 is sample * 32767
  std::span<const int16_t> reference;  // [22050..110250]
  std::span<const float> features;     // [kItemFrames * kMelodyFeatures]
  std::vector<audio::Note> melody;
  std::vector<audio::Note> played;
};

// int16 as stored -> float in [-1, 1].
void to_float(std::span<const int16_t> stored, std::span<float> out);

// A folder of items, memory-mapped; reading is const and thread-safe.
class ItemFolder {
 public:
  // Throws: kNoInput when missing, kBadData when a file is truncated or foreign, with the file's
  // name.
  explicit ItemFolder(const std::filesystem::path& folder);
  ~ItemFolder();
  ItemFolder(ItemFolder&&) noexcept;

  int64_t size() const;
  const std::vector<std::string>& presets() const;
  ItemView operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
