#include "data/shards/manifest.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/threads.h"

namespace hum::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMakeAgain = "make new ones: hum data make --config FILE -o FOLDER";

Json entry_to_json(const ShardEntry& entry) {
  return {{"name", entry.name},
          {"count", entry.count},
          {"bytes", entry.bytes},
          {"sha256", entry.sha256}};
}

ShardEntry entry_from_json(const Json& json) {
  return {json.at("name").get<std::string>(), json.at("count").get<int64_t>(),
          json.at("bytes").get<int64_t>(), json.at("sha256").get<std::string>()};
}

Json manifest_to_json(const Json& options, std::span<const ShardEntry> shards) {
  Json list = Json::array();
  int64_t items = 0;
  for (const ShardEntry& shard : shards) {
    list.push_back(entry_to_json(shard));
    items += shard.count;
  }
  return {{"options", options},
          {"fingerprint", fingerprint_of(options)},
          {"count", items},
          {"shards", std::move(list)}};
}

Manifest manifest_from_json(const fs::path& path, const Json& json) {
  try {
    Manifest manifest{.options = json.at("options"), .shards = {}};
    manifest.version = manifest.options.at("version").get<int64_t>();
    if (manifest.version != kItemsVersion && manifest.version != kFeaturesVersion) {
      fail(ExitCode::kBadData,
           fmt::format("{}: items of version {}", path.string(), manifest.version), kMakeAgain);
    }
    manifest.codec = manifest.options.at("codec").get<std::string>();
    // Mono is not stored.
    const Json items = manifest.options.value("items", Json::object());
    manifest.channels = from_name<audio::Channels>(items.value("channels", "mono"));
    for (const Json& entry : json.at("shards")) manifest.shards.push_back(entry_from_json(entry));
    return manifest;
  } catch (const Json::exception& error) {
    fail(ExitCode::kBadData, fmt::format("{}: {}", path.string(), error.what()), kMakeAgain);
  }
}

bool is_part(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("shards-") && name.ends_with(".json");
}

std::vector<fs::path> parts_of(const fs::path& folder) {
  std::vector<fs::path> parts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_part(entry.path())) parts.push_back(entry.path());
  }
  return parts;
}

// The difference of the file from its entry; empty: none.
std::string fault_of(const fs::path& folder, const ShardEntry& entry) {
  const fs::path path = folder / entry.name;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return "is missing";
  if (static_cast<int64_t>(size) != entry.bytes) {
    return fmt::format("has {} bytes instead of {}", size, entry.bytes);
  }
  return sha256(MappedFile(path).bytes()) == entry.sha256 ? "" : "has another SHA-256";
}

bool has_old_items(const fs::path& folder) { return fs::exists(folder / "items.json"); }

}  // namespace

std::string shard_name(int64_t shard) { return fmt::format("items-{:06}.tar", shard); }

int64_t Manifest::items() const {
  int64_t sum = 0;
  for (const ShardEntry& shard : shards) sum += shard.count;
  return sum;
}

std::string fingerprint_of(const Json& options) { return sha256(to_text(options)).substr(0, 16); }

Manifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifest;
  if (fs::exists(path)) return manifest_from_json(path, read_json(path));
  if (has_old_items(folder)) {
    fail(ExitCode::kBadData,
         folder.string() + ": the items are from an earlier release, which this one cannot read",
         kMakeAgain);
  }
  if (is_folder(folder) && !parts_of(folder).empty()) {
    fail(ExitCode::kTemporary, folder.string() + ": not all items are made yet",
         "repeat `hum data make` with the same options; it keeps intact shards");
  }
  fail(ExitCode::kNoInput, folder.string() + ": holds no training items",
       "hum data make --config data -o " + folder.string());
}

std::string manifest_text(const Json& options, std::span<const ShardEntry> shards) {
  return to_text(manifest_to_json(options, shards), 2) + "\n";
}

void write_manifest(const fs::path& folder, const Json& options,
                    std::span<const ShardEntry> shards) {
  write_file(folder / kManifest, manifest_text(options, shards));
}

std::vector<ShardFault> verify_shards(const fs::path& folder, int threads) {
  const Manifest manifest = read_manifest(folder);
  std::vector<std::string> faults(manifest.shards.size());
  parallel_for(std::ssize(faults), threads, [&](int64_t i) {
    const auto shard = static_cast<size_t>(i);
    faults[shard] = fault_of(folder, manifest.shards[shard]);
  });
  std::vector<ShardFault> result;
  for (size_t i = 0; i < faults.size(); ++i) {
    if (!faults[i].empty()) result.push_back({manifest.shards[i].name, faults[i]});
  }
  return result;
}

ShardLedger::ShardLedger(fs::path folder, Json options, ProcessRank rank)
    : folder_(std::move(folder)),
      options_(std::move(options)),
      part_name_(fmt::format("shards-{}-of-{}.json", rank.rank, rank.ranks)) {
  create_folder(folder_);
  if (has_old_items(folder_)) {
    fail(ExitCode::kUsage, folder_.string() + ": holds items from an earlier release",
         "choose another folder, or delete this one");
  }
  entries_ = read_all();
}

// Reads the parts before shards.json: the process that joins them writes shards.json, then deletes
// them. If a shard has two entries, the larger one counts, since the last shard grows with the
// count.
ShardLedger::Entries ShardLedger::read_all() const {
  std::vector<fs::path> files = parts_of(folder_);
  files.push_back(folder_ / kManifest);
  Entries entries;
  for (const fs::path& file : files) {
    Json json;
    try {
      json = read_json(file);
    } catch (const Error& error) {
      if (error.code() == ExitCode::kNoInput) continue;
      throw;
    }
    const Manifest manifest = manifest_from_json(file, json);
    if (manifest.options != options_) {
      fail(ExitCode::kUsage,
           fmt::format("{} holds items made with other options", folder_.string()),
           "choose another folder, or delete this one");
    }
    for (const ShardEntry& entry : manifest.shards) {
      ShardEntry& place = entries[entry.name];
      if (entry.count > place.count) place = entry;
    }
  }
  return entries;
}

bool ShardLedger::holds(int64_t shard, int64_t count) const {
  ShardEntry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(shard_name(shard));
    if (found == entries_.end()) return false;
    entry = found->second;
  }
  return entry.count >= count && fault_of(folder_, entry).empty();
}

void ShardLedger::add(int64_t shard, int64_t count, const std::string& archive) {
  const ShardEntry entry{shard_name(shard), count, std::ssize(archive), sha256(archive)};
  write_file(folder_ / entry.name, archive);
  const std::lock_guard lock(mutex_);
  entries_[entry.name] = entry;
  write(part_name_, entries_);
}

void ShardLedger::write(const std::string& name, const Entries& entries) const {
  std::vector<ShardEntry> shards;
  for (const auto& [unused, entry] : entries) shards.push_back(entry);
  write_json(folder_ / name, manifest_to_json(options_, shards));
}

bool ShardLedger::finish(int64_t items) {
  // Counts shards from the first without a gap; only the last may be short.
  Entries all = read_all(), whole;
  const auto full = options_.at("items_per_shard").get<int64_t>();
  int64_t count = 0;
  for (int64_t shard = 0; count == shard * full && all.contains(shard_name(shard)); ++shard) {
    const ShardEntry& entry = all[shard_name(shard)];
    count += entry.count;
    whole[entry.name] = entry;
  }
  if (count < items) return false;
  write(kManifest, whole);
  for (const fs::path& part : parts_of(folder_)) {
    std::error_code ignored;
    fs::remove(part, ignored);
  }
  return true;
}

}  // namespace hum::data
