// Training items on disk, as training reads them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "data/shards/item_sample.h"

namespace hum::data {

// A folder of shards, memory-mapped; reading is const and thread-safe. A shard's headers are walked
// when the first of its items is read.
class ItemFolder {
 public:
  // Throws: what read_manifest throws; kBadData when a shard's size is not the written one.
  explicit ItemFolder(const std::filesystem::path& folder);
  ~ItemFolder();
  ItemFolder(ItemFolder&&) noexcept;

  int64_t size() const;
  // Of the options that the items follow from.
  const std::string& fingerprint() const;
  // Of the targets, and how their tokens see them.
  audio::Channels channels() const;
  // Of the codec whose codes the items have, or empty.
  const std::string& codec() const;
  // Throws: kBadData when the item's shard is damaged, with its name.
  const ItemView& operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
