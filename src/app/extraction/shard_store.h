// Where the shards of features lie. A shard's name holds the SHA-256 of its bytes, so what has a
// name is whole. Which shards count is written in the table (recording_table.h).
//
// A folder is behind it, or a bucket of S3 (s3_store.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "data/shards/manifest.h"

namespace hum::app {

// Holds the ID of the job whose shards these are.
inline constexpr std::string_view kMarkFile = "hum-job";
inline constexpr std::string_view kShardPrefix = "features-", kShardExtension = ".tar";
// features-<SHA-256>.tar, of the archive.
data::ShardEntry shard_entry(std::string_view archive, int64_t items);

struct StoredFile {
  std::string name;
  std::string shard;  // the same, or the shard of which it is an unfinished part
  int64_t bytes = 0;
};

// Throws, all calls: kCannotCreate for a folder; for a bucket, what S3Bucket throws.
class ShardStore {
 public:
  virtual ~ShardStore() = default;
  // Stores the shard under its name and verifies all its bytes. It may be there already, whole or
  // damaged. Throws: kCannotCreate when it reads back otherwise.
  virtual void put(const data::ShardEntry& entry, std::string_view archive) = 0;
  virtual std::vector<StoredFile> list() const = 0;
  // False: there is no such file. A bucket does not say, and returns true.
  virtual bool remove(const std::string& name) = 0;
  // Whether shards.json is there.
  virtual bool has_list() const = 0;
  // Writes shards.json.
  virtual void write_list(const Json& options, std::span<const data::ShardEntry> shards) = 0;
  // The bytes of the mark; empty: none is there.
  virtual std::string mark() const = 0;
  virtual void set_mark(const std::string& id) = 0;
};

// Throws: kNoInput if the place lacks the mark (its file system is not mounted), kUsage if it has
// that of another job. `id`: empty for a place that needs none.
void require_mark(const ShardStore& store, const std::string& place, const std::string& id);

// The place of the shards for `-o OUTPUT`: s3://bucket/prefix, or a folder; without a '/' at the
// end. Throws: kUsage for one without a name; what parse_s3_url throws.
std::string place_of_output(const std::string& output);
// Creates nothing there. `repeating`: as in S3Options. Throws, for S3: what
// s3_options_from_environment throws.
std::unique_ptr<ShardStore> open_store(const std::string& place,
                                       std::function<void()> repeating = {});

class FolderStore : public ShardStore {
 public:
  explicit FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void put(const data::ShardEntry& entry, std::string_view archive) override;
  std::vector<StoredFile> list() const override;
  bool remove(const std::string& name) override;
  bool has_list() const override;
  void write_list(const Json& options, std::span<const data::ShardEntry> shards) override;
  std::string mark() const override;
  void set_mark(const std::string& id) override;

 private:
  std::filesystem::path folder_;
};

}  // namespace hum::app
