#include "data/stems/stem_shards.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "audio/flac.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "data/shards/item_sample.h"
#include "data/shards/make_shards.h"
#include "data/shards/manifest.h"
#include "data/shards/mapped_shards.h"
#include "data/shards/pool.h"
#include "data/shards/tar.h"
#include "data/stems/roles.h"

namespace hum::data {
namespace {

constexpr int kChannels = 2;
constexpr const char* kFlac = ".flac";
constexpr const char* kMeta = "meta.json";

// All that determines the bytes of the shards.
Json identity(MakeStemsOptions options, const SongSource& source) {
  Json written = to_json(options);
  for (const char* name : {"count", "threads", "windows_per_shard"}) written.erase(name);
  written["pinned_packages"] = source.packages();
  return {{"version", kItemsVersion},
          {"items_per_shard", options.windows_per_shard},
          {"codec", ""},
          {kStemsOption, written}};
}

void add_window(TarWriter& shard, const StemWindow& window) {
  const std::string key = item_key(window.index) + ".";
  shard.add(key + kMeta, to_text(window.description));
  for (const Stem stem : kStems) {
    const auto& samples = window.stems[static_cast<size_t>(stem)];
    if (samples.empty()) continue;
    shard.add(key + std::string(to_name(stem)) + kFlac,
              audio::flac_file(samples, kStemRate, kChannels));
  }
}

std::vector<StoredStems> read_windows(std::string_view archive) {
  std::vector<StoredStems> windows;
  for (const TarSample& sample : tar_samples(archive)) {
    StoredStems& window = windows.emplace_back();
    for (const auto& [name, bytes] : sample.files) {
      if (name == kMeta) window.meta_json = bytes;
      for (const Stem stem : kStems) {
        if (name == std::string(to_name(stem)) + kFlac) {
          window.flac[static_cast<size_t>(stem)] = bytes;
        }
      }
    }
  }
  return windows;
}

Manifest read_stem_manifest(const std::filesystem::path& folder) {
  Manifest manifest = read_manifest(folder);
  if (manifest.options.contains(kStemsOption)) return manifest;
  fail(ExitCode::kBadData, folder.string() + ": holds other items than stems",
       "hum data stems --config stems -o FOLDER");
}

}  // namespace

bool make_stems(const std::filesystem::path& folder, const MakeStemsOptions& options,
                const ComposeSong& compose, ProcessRank rank,
                const std::function<bool()>& should_stop) {
  const SongSource source(options.material, compose);
  Pool<StemRenderer> renderers([&] { return StemRenderer(options.material, source); });
  renderers.give_back(renderers.take());  // names a missing font before the folder is made
  return make_shards(
      folder, identity(options, source),
      {options.count, options.windows_per_shard, static_cast<int>(options.threads), rank},
      one_by_one(should_stop, [&](TarWriter& shard, uint64_t index) {
        const ErrorContext context([&] { return fmt::format("making window {}", index); });
        auto renderer = renderers.take();
        add_window(shard, renderer.render(index));
        renderers.give_back(std::move(renderer));
      }));
}

Json StoredStems::meta() const {
  try {
    return parse_json(meta_json);
  } catch (const Json::exception& error) {
    fail(ExitCode::kBadData, fmt::format("{}: {}", kMeta, error.what()));
  }
}

void StoredStems::read(Stem stem, int64_t first_frame, std::span<float> interleaved) const {
  if (!has(stem)) {
    std::ranges::fill(interleaved, 0.0F);
    return;
  }
  const ErrorContext context([&] { return fmt::format("reading {}{}", to_name(stem), kFlac); });
  audio::read_flac(flac[static_cast<size_t>(stem)], first_frame, kChannels, interleaved);
}

struct StemFolder::Impl {
  explicit Impl(const std::filesystem::path& folder)
      : manifest(read_stem_manifest(folder)), windows(folder, manifest, read_windows) {
    const double seconds = manifest.options.at(kStemsOption).at("seconds");
    frames = std::llround(seconds * kStemRate);
  }
  Manifest manifest;
  MappedShards<StoredStems> windows;
  int64_t frames = 0;
};

StemFolder::StemFolder(const std::filesystem::path& folder)
    : impl_(std::make_unique<Impl>(folder)) {}

StemFolder::~StemFolder() = default;

int64_t StemFolder::size() const { return impl_->windows.size(); }

int64_t StemFolder::frames() const { return impl_->frames; }

const StoredStems& StemFolder::operator[](int64_t i) const { return impl_->windows[i]; }

}  // namespace hum::data
