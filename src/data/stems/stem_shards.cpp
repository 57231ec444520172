#include "data/stems/stem_shards.h"

#include <algorithm>
#include <cmath>

#include "audio/flac.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/hash.h"
#include "data/shards/item_sample.h"
#include "data/shards/make_shards.h"
#include "data/shards/manifest.h"
#include "data/shards/mapped_shards.h"
#include "data/shards/pool.h"
#include "data/shards/tar.h"
#include "data/stems/roles.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {
namespace {

constexpr int kChannels = 2;
constexpr const char* kFlac = ".flac";
constexpr const char* kMeta = "meta.json";

// The file of each font, whose name alone does not determine how it sounds.
Json pinned_fonts(const StemOptions& options) {
  Json fonts = Json::object();
  const auto pin = [&](const SoundFont& font) {
    const auto path = installed_path(font);
    fonts[std::string(font.name)] = {{"bytes", std::filesystem::file_size(path)},
                                     {"sha256", sha256_file(path)}};
  };
  for (const auto& name : options.sound_fonts) pin(find_sound_font(name));
  for (const auto& name : options.drum_fonts) pin(find_drum_font(name));
  return fonts;
}

// All that determines the bytes of the shards.
Json identity(MakeStemsOptions options, const SongSource& source) {
  Json written = to_json(options);
  for (const char* name : {"count", "threads", "windows_per_shard"}) written.erase(name);
  written["version"] = kStemsVersion;
  written["pinned_packages"] = source.packages();
  written["pinned_fonts"] = pinned_fonts(options.material);
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

// A folder of stems, as its manifest describes it.
struct StemManifest {
  Manifest manifest;
  double seconds = 0;  // of each window
};

StemManifest read_stem_manifest(const std::filesystem::path& folder) {
  StemManifest stems{.manifest = read_manifest(folder)};
  constexpr const char* kMake = "hum data stems --config stems -o FOLDER";
  if (!stems.manifest.options.contains(kStemsOption)) {
    fail(ExitCode::kBadData, folder.string() + ": holds other items than stems", kMake);
  }
  try {
    const Json& options = stems.manifest.options.at(kStemsOption);
    // Folders of version 2 do not state it, and hold the same files.
    const int64_t version = options.value("version", int64_t{2});
    if (version > kStemsVersion) {
      fail(ExitCode::kBadData, fmt::format("{}: stems of version {}", folder.string(), version),
           kMake);
    }
    stems.seconds = options.at("seconds").get<double>();
  } catch (const Json::exception& error) {
    fail(ExitCode::kBadData, fmt::format("{}: {}", folder.string(), error.what()), kMake);
  }
  return stems;
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
  explicit Impl(const std::filesystem::path& folder) : Impl(folder, read_stem_manifest(folder)) {}
  Impl(const std::filesystem::path& folder, StemManifest stems)
      : manifest(std::move(stems.manifest)),
        windows(folder, manifest, read_windows),
        frames(std::llround(stems.seconds * kStemRate)) {}

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
