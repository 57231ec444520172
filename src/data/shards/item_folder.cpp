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

void require_whole_sound(const ItemView& item) {
  const auto size = std::ssize(item.target), mono = std::ssize(item.mono_sound);
  if ((size == kItemSamples || size == kStereo * kItemSamples) &&
      (mono == 0 || mono == kItemSamples)) {
    return;
  }
  fail(ExitCode::kBadData, fmt::format("window {}: its sound has {} samples, its mono version {}",
                                       item.index, size, mono));
}

std::vector<ItemView> read_features(std::string_view archive, audio::Channels channels,
                                    bool has_sound) {
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
    if (!has_sound) continue;
    require_whole_sound(item);
    if (channels == audio::Channels::kMono && !item.mono_sound.empty()) {
      item.target = item.mono_sound;
    }
  }
  return items;
}

bool holds_sound(const Manifest& manifest) {
  return manifest.version == kItemsVersion || manifest.options.value(kSoundOption, false);
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
              [channels = manifest.channels, is_rendered = manifest.version == kItemsVersion,
               has_sound = holds_sound(manifest)](std::string_view archive) {
                return is_rendered ? read_rendered(archive, audio::channel_count(channels))
                                   : read_features(archive, channels, has_sound);
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

bool ItemFolder::are_features() const { return impl_->manifest.version == kFeaturesVersion; }

bool ItemFolder::has_codes_by_channel() const {
  return are_features() && channels() != audio::Channels::kMono;
}

bool ItemFolder::has_sound() const { return holds_sound(impl_->manifest); }

void ItemFolder::require_sound(std::string_view learner) const {
  if (has_sound()) return;
  fail(ExitCode::kBadData,
       fmt::format("{}: these features of recordings do not hold the sound that {} learns from",
                   impl_->folder.string(), learner),
       "extract them with the sound, into another folder: hum data extract music/ --keep-audio -o "
       "FOLDER");
}

const ItemView& ItemFolder::operator[](int64_t i) const { return impl_->items[i]; }

}  // namespace hum::data
