#include "data/shards/item_folder.h"

#include "base/error.h"
#include "data/shards/mapped_shards.h"
#include "data/synthesis/features.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr int kStereo = 2;  // signals in each file of codes of features

std::vector<ItemView> read_rendered(std::string_view archive, int channels) {
  auto items = read_samples(archive);
  for (const ItemView& item : items) {
    if (std::ssize(item.target) == kItemSamples * channels) continue;
    fail(ExitCode::kBadData,
         fmt::format("item {}: the target has {} samples", item.index, item.target.size()));
  }
  return items;
}

std::vector<ItemView> read_features(std::string_view archive, audio::Channels channels) {
  auto items = read_samples(archive);
  for (ItemView& item : items) {
    const auto size = std::ssize(item.stereo_codes);
    if (std::ssize(item.features) != kItemFrames * kMelodyFeatures || size == 0 ||
        size % (kStereo * kItemFrames) != 0 || std::ssize(item.mono_codes) != size) {
      fail(ExitCode::kBadData,
           fmt::format("window {}: features or codes are missing or of another shape", item.index));
    }
    item.codes = channels == audio::Channels::kMono
                     ? item.mono_codes.first(static_cast<size_t>(size / kStereo))
                     : item.stereo_codes;
  }
  return items;
}

Manifest manifest_of(const std::filesystem::path& folder, audio::Channels channels) {
  Manifest manifest = read_manifest(folder);
  if (manifest.version != kFeaturesVersion) return manifest;
  if (channels == audio::Channels::kMidSide) {
    fail(ExitCode::kConfig,
         folder.string() + ": features of recordings have no tokens of mid and side",
         "common: {channels: left_right}, or none for mono");
  }
  manifest.channels = channels;
  return manifest;
}

}  // namespace

struct ItemFolder::Impl {
  Impl(const std::filesystem::path& folder_, audio::Channels channels)
      : folder(folder_),
        manifest(manifest_of(folder, channels)),
        fingerprint(fingerprint_of(manifest.options)),
        items(folder, manifest,
              [channels = manifest.channels,
               is_rendered = manifest.version == kItemsVersion](std::string_view archive) {
                return is_rendered ? read_rendered(archive, audio::channel_count(channels))
                                   : read_features(archive, channels);
              }) {}

  std::filesystem::path folder;
  Manifest manifest;
  std::string fingerprint;
  MappedShards<ItemView> items;
};

ItemFolder::ItemFolder(const std::filesystem::path& folder, audio::Channels channels)
    : impl_(std::make_unique<Impl>(folder, channels)) {}

ItemFolder::~ItemFolder() = default;
ItemFolder::ItemFolder(ItemFolder&&) noexcept = default;

int64_t ItemFolder::size() const { return impl_->items.size(); }

const std::string& ItemFolder::fingerprint() const { return impl_->fingerprint; }

audio::Channels ItemFolder::channels() const { return impl_->manifest.channels; }

const std::string& ItemFolder::codec() const { return impl_->manifest.codec; }

bool ItemFolder::has_codes_by_channel() const {
  return !has_sound() && channels() != audio::Channels::kMono;
}

bool ItemFolder::has_sound() const { return impl_->manifest.version == kItemsVersion; }

void ItemFolder::require_sound() const {
  if (has_sound()) return;
  fail(ExitCode::kBadData,
       impl_->folder.string() +
           ": features of recordings do not hold the sound that this training "
           "learns from",
       "train on rendered items: hum data make --config configs/data.yaml -o FOLDER");
}

const ItemView& ItemFolder::operator[](int64_t i) const { return impl_->items[i]; }

}  // namespace hum::data
