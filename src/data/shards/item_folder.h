// Reads training items from disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "data/shards/item_sample.h"

namespace hum::data {

// A folder of memory-mapped shards; reading is const and thread-safe. Reads a shard's headers when
// its first item is read.
class ItemFolder {
 public:
  // Features of recordings have the tokens of mono and stereo: `channels` says whose to read. Other
  // items have one kind, whatever it is.
  // Throws: what read_manifest throws; kBadData when a shard's size differs from the manifest;
  // kConfig for features as mid and side, which they do not have.
  explicit ItemFolder(const std::filesystem::path& folder,
                      audio::Channels channels = audio::Channels::kMono);
  ~ItemFolder();
  ItemFolder(ItemFolder&&) noexcept;

  int64_t size() const;
  // The hash of the options that the items were made with.
  const std::string& fingerprint() const;
  // The channels of the targets and of their tokens.
  audio::Channels channels() const;
  // The fingerprint of the codec of the items' codes, or empty.
  const std::string& codec() const;
  // Whether the codes of two channels are [2, kItemFrames, K], in place of alternate columns.
  bool has_codes_by_channel() const;
  // Features of recordings do not hold the sound itself.
  bool has_sound() const;
  // Throws: kBadData if they hold none.
  void require_sound() const;
  // Throws: kBadData naming the item's shard when it is damaged.
  const ItemView& operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
