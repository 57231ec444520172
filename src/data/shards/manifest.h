// Lists the shards of a folder of items with their sizes and hashes, and the options that they were
// made with.
//
// Each process that makes shards updates its part, shards-<rank>-of-<ranks>.json; the process that
// finds all shards complete joins the parts into shards.json. A folder without shards.json is not
// finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "audio/channels.h"
#include "base/json.h"
#include "base/ranks.h"

namespace hum::data {

// The list of the shards of a folder.
inline constexpr const char* kManifest = "shards.json";

// Versions of items. 1: the .bin files of earlier releases.
inline constexpr int64_t kItemsVersion = 2;     // rendered
inline constexpr int64_t kFeaturesVersion = 3;  // features of recordings

// The option of features whose samples hold the sound itself.
inline constexpr const char* kSoundOption = "sound";

// The options of windows of stems.
inline constexpr const char* kStemsOption = "stems";

// items-000007.tar
std::string shard_name(int64_t shard);

struct ShardEntry {
  std::string name;
  int64_t count = 0, bytes = 0;
  std::string sha256;
};

struct Manifest {
  Json options;  // that determine the shards' bytes
  int64_t version = kItemsVersion;
  std::string codec;  // fingerprint of the codec of the items' codes, or empty
  audio::Channels channels = audio::Channels::kMono;  // of the targets; features have all of them
  std::vector<ShardEntry> shards;

  int64_t items() const;
};

// The first 16 hex digits of the SHA-256 of the options, written compactly.
std::string fingerprint_of(const Json& options);

// Throws: kNoInput when the folder holds no items, kTemporary when they are not finished, kBadData
// when they are of another version.
Manifest read_manifest(const std::filesystem::path& folder);

// The content of shards.json with these shards.
std::string manifest_text(const Json& options, std::span<const ShardEntry> shards);
// Writes it.
void write_manifest(const std::filesystem::path& folder, const Json& options,
                    std::span<const ShardEntry> shards);

// A shard that differs from its manifest.
struct ShardFault {
  std::string name, what;
};
// Reads every shard. Throws as read_manifest does.
std::vector<ShardFault> verify_shards(const std::filesystem::path& folder, int threads);

// Tracks the shards of a folder while they are made. Thread-safe.
class ShardLedger {
 public:
  // `options` must hold "version", "items_per_shard" and "codec". Creates the folder.
  // Throws: kUsage when it holds items made with other options or by an earlier version,
  // kCannotCreate.
  ShardLedger(std::filesystem::path folder, Json options, ProcessRank rank);

  // Whether this shard exists, is intact by its hash, and has `count` items or the most that a
  // shard can have.
  bool holds(int64_t shard, int64_t count) const;
  // Writes the shard's file, then this process's part.
  void add(int64_t shard, int64_t count, const std::string& archive);
  // Writes shards.json if the first `items` items are complete, including those of other processes.
  // Returns whether they are.
  bool finish(int64_t items);

 private:
  using Entries = std::map<std::string, ShardEntry>;
  Entries read_all() const;
  void write(const std::string& name, const Entries& entries) const;

  std::filesystem::path folder_;
  Json options_;
  std::string part_name_;
  mutable std::mutex mutex_;
  Entries entries_;
};

}  // namespace hum::data
