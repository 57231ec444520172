// Where the shards of features lie. A shard's name holds the SHA-256 of its bytes, so what has a
// name is whole. Which shards count is written in the table (recording_table.h).
//
// A folder is behind it; an object store fits behind the same calls.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/shards/manifest.h"

namespace hum::app {

// features-<SHA-256>.tar, of the archive.
data::ShardEntry shard_entry(std::string_view archive, int64_t items);

struct StoredFile {
  std::string name;
  std::string shard;  // the same, or the shard of which it is an unfinished part
  int64_t bytes = 0;
};

class ShardStore {
 public:
  virtual ~ShardStore() = default;
  // Stores the shard under its name, once all its bytes are verified. It may be there already.
  // Throws: kCannotCreate when it cannot be written, or reads back otherwise.
  virtual void put(const data::ShardEntry& entry, std::string_view archive) = 0;
  virtual std::vector<StoredFile> list() const = 0;
  // Throws: kCannotCreate when it stays.
  virtual void remove(const std::string& name) = 0;
};

class FolderStore : public ShardStore {
 public:
  explicit FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void put(const data::ShardEntry& entry, std::string_view archive) override;
  std::vector<StoredFile> list() const override;
  void remove(const std::string& name) override;

 private:
  std::filesystem::path folder_;
};

}  // namespace hum::app
