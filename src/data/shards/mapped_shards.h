// The shards of a folder of items, memory-mapped.
#pragma once

#include <algorithm>
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
      : read_(std::move(read)) {
    for (const ShardEntry& entry : manifest.shards) {
      shards_.emplace_back(folder / entry.name, entry);
      first_.push_back(size_);
      size_ += entry.count;
    }
  }

  int64_t size() const { return size_; }

  // Throws: kBadData naming the item's shard when it is damaged.
  const Item& operator[](int64_t i) const {
    HUM_REQUIRE(i >= 0 && i < size_, "item {} of {}", i, size_);
    const auto shard = std::ranges::upper_bound(first_, i) - first_.begin() - 1;
    return shards_[static_cast<size_t>(shard)].item(i - first_[static_cast<size_t>(shard)], read_);
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
             "`hum data verify` names the damaged shards and says how to replace them");
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

  int64_t size_ = 0;
  Read read_;
  std::vector<int64_t> first_;  // items of the shards
  std::deque<Shard> shards_;
};

}  // namespace hum::data
