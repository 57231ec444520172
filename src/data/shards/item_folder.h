// Reads training items from disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

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
  // Whether they are features of recordings, not rendered.
  bool are_features() const;
  // Whether the codes of two channels are [2, kItemFrames, K], in place of alternate columns.
  bool has_codes_by_channel() const;
  // Features of recordings hold the sound itself only if they were told to.
  bool has_sound() const;
  // `learner`: what needs it. Throws: kBadData if they hold none.
  void require_sound(std::string_view learner) const;
  // Throws: kBadData naming the item's shard when it is damaged.
  const ItemView& operator[](int64_t i) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
