#include "data/shards/item_folder.h"

#include <deque>
#include <mutex>

#include "base/error.h"
#include "base/mapped_file.h"
#include "data/shards/manifest.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

class Shard {
 public:
  Shard(const std::filesystem::path& path, ShardEntry entry, int channels)
      : entry_(std::move(entry)), channels_(channels), file_(path) {
    if (std::ssize(file_.bytes()) != entry_.bytes) {
      fail(ExitCode::kBadData,
           fmt::format("{}: has {} bytes instead of {}", path.string(), file_.bytes().size(),
                       entry_.bytes),
           "repeat `hum data make`, which keeps intact shards");
    }
  }

  const ItemView& item(int64_t i) const {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) items_ = walk();
    return items_[static_cast<size_t>(i)];
  }

 private:
  std::vector<ItemView> walk() const {
    const ErrorContext context([&] { return "reading " + entry_.name; });
    auto items = read_samples(file_.bytes());
    if (std::ssize(items) != entry_.count) {
      fail(ExitCode::kBadData,
           fmt::format("it holds {} items instead of {}", items.size(), entry_.count));
    }
    for (const ItemView& item : items) {
      if (std::ssize(item.target) == kItemSamples * channels_) continue;
      fail(ExitCode::kBadData,
           fmt::format("item {}: the target has {} samples", item.index, item.target.size()));
    }
    return items;
  }

  ShardEntry entry_;
  int channels_;
  MappedFile file_;
  mutable std::mutex mutex_;
  mutable std::vector<ItemView> items_;  // filled on first use
};

}  // namespace

struct ItemFolder::Impl {
  Manifest manifest;
  std::string fingerprint;
  int64_t size = 0;
  std::deque<Shard> shards;
};

ItemFolder::ItemFolder(const std::filesystem::path& folder) : impl_(std::make_unique<Impl>()) {
  impl_->manifest = read_manifest(folder);
  impl_->fingerprint = fingerprint_of(impl_->manifest.options);
  impl_->size = impl_->manifest.items();
  for (const ShardEntry& entry : impl_->manifest.shards) {
    impl_->shards.emplace_back(folder / entry.name, entry,
                               audio::channel_count(impl_->manifest.channels));
  }
}

ItemFolder::~ItemFolder() = default;
ItemFolder::ItemFolder(ItemFolder&&) noexcept = default;

int64_t ItemFolder::size() const { return impl_->size; }

const std::string& ItemFolder::fingerprint() const { return impl_->fingerprint; }

audio::Channels ItemFolder::channels() const { return impl_->manifest.channels; }

const std::string& ItemFolder::codec() const { return impl_->manifest.codec; }

const ItemView& ItemFolder::operator[](int64_t i) const {
  HUM_REQUIRE(i >= 0 && i < size(), "item {} of {}", i, size());
  const int64_t per_shard = impl_->manifest.per_shard;
  return impl_->shards[static_cast<size_t>(i / per_shard)].item(i % per_shard);
}

}  // namespace hum::data
