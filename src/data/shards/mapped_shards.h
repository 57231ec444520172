// The shards of a folder of items, memory-mapped.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "data/shards/manifest.h"

namespace hum::data {

// Item: a view into its shard. Reads a shard's headers when its first item is read. Thread-safe.
template <typename Item>
class MappedShards {
 public:
  // Lists the items of an archive. Throws: kBadData when it is damaged.
  using Read = std::function<std::vector<Item>(std::string_view archive)>;

  // Throws: kBadData when a shard's size differs from the manifest.
  MappedShards(const std::filesystem::path& folder, const Manifest& manifest, Read read)
      : size_(manifest.items()), per_shard_(manifest.per_shard), read_(std::move(read)) {
    for (const ShardEntry& entry : manifest.shards) {
      shards_.emplace_back(folder / entry.name, entry);
    }
  }

  int64_t size() const { return size_; }

  // Throws: kBadData naming the item's shard when it is damaged.
  const Item& operator[](int64_t i) const {
    HUM_REQUIRE(i >= 0 && i < size_, "item {} of {}", i, size_);
    return shards_[static_cast<size_t>(i / per_shard_)].item(i % per_shard_, read_);
  }

 private:
  class Shard {
   public:
    Shard(const std::filesystem::path& path, ShardEntry entry)
        : entry_(std::move(entry)), file_(path) {
      if (std::ssize(file_.bytes()) != entry_.bytes) {
        fail(ExitCode::kBadData,
             fmt::format("{}: has {} bytes instead of {}", path.string(), file_.bytes().size(),
                         entry_.bytes),
             "repeat `hum data make`, which keeps intact shards");
      }
    }

    const Item& item(int64_t i, const Read& read) const {
      const std::lock_guard lock(mutex_);
      if (items_.empty()) items_ = all(read);
      return items_[static_cast<size_t>(i)];
    }

   private:
    std::vector<Item> all(const Read& read) const {
      const ErrorContext context([&] { return "reading " + entry_.name; });
      auto items = read(file_.bytes());
      if (std::ssize(items) != entry_.count) {
        fail(ExitCode::kBadData,
             fmt::format("it holds {} items instead of {}", items.size(), entry_.count));
      }
      return items;
    }

    ShardEntry entry_;
    MappedFile file_;
    mutable std::mutex mutex_;
    mutable std::vector<Item> items_;  // filled on first use
  };

  int64_t size_, per_shard_;
  Read read_;
  std::deque<Shard> shards_;
};

}  // namespace hum::data
