#include "data/shards/item_folder.h"

#include "base/error.h"
#include "data/shards/mapped_shards.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

std::vector<ItemView> read_items(std::string_view archive, int channels) {
  auto items = read_samples(archive);
  for (const ItemView& item : items) {
    if (std::ssize(item.target) == kItemSamples * channels) continue;
    fail(ExitCode::kBadData,
         fmt::format("item {}: the target has {} samples", item.index, item.target.size()));
  }
  return items;
}

}  // namespace

struct ItemFolder::Impl {
  explicit Impl(const std::filesystem::path& folder)
      : manifest(read_manifest(folder)),
        fingerprint(fingerprint_of(manifest.options)),
        items(folder, manifest,
              [channels = audio::channel_count(manifest.channels)](std::string_view archive) {
                return read_items(archive, channels);
              }) {}

  Manifest manifest;
  std::string fingerprint;
  MappedShards<ItemView> items;
};

ItemFolder::ItemFolder(const std::filesystem::path& folder)
    : impl_(std::make_unique<Impl>(folder)) {}

ItemFolder::~ItemFolder() = default;
ItemFolder::ItemFolder(ItemFolder&&) noexcept = default;

int64_t ItemFolder::size() const { return impl_->items.size(); }

const std::string& ItemFolder::fingerprint() const { return impl_->fingerprint; }

audio::Channels ItemFolder::channels() const { return impl_->manifest.channels; }

const std::string& ItemFolder::codec() const { return impl_->manifest.codec; }

const ItemView& ItemFolder::operator[](int64_t i) const { return impl_->items[i]; }

}  // namespace hum::data
