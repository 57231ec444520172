// The recordings in one SQLite file. docs/formats/items.md has the tables.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "app/extraction/recording_table.h"
#include "base/sqlite.h"

namespace hum::app {

struct FoundFile {
  std::string location;  // an absolute path
  int64_t bytes = 0;
};

class SqliteTable : public RecordingTable {
 public:
  // Creates the file and its tables for features that are made with `options`; null: it must exist.
  // Throws: kNoInput if it does not, kUsage if it holds features of other options, kConfig if a
  // newer version of hum wrote it, kCannotCreate on a network file system, where its locks do not
  // hold.
  SqliteTable(const std::filesystem::path& file, const Json& options, double lease_s);

  // Adds the files whose locations are new; returns how many.
  int64_t add(std::span<const FoundFile> files);
  // How many of them are new.
  int64_t count_new(std::span<const FoundFile> files);

  Claim claim(int64_t most) override;
  bool renew(int64_t lease) override;
  Content note_content(int64_t lease, int64_t number, const std::string& sha256) override;
  bool announce(int64_t lease, const std::string& shard) override;
  bool finish(int64_t lease, std::span<const RecordingResult> results,
              const std::optional<data::ShardEntry>& shard) override;
  int64_t requeue_failed() override;
  int64_t requeue_shard(const std::string& shard) override;
  TableCounts counts() override;
  std::vector<SetAside> set_aside() override;
  Json options() override;
  void with_shards(const std::function<void(std::span<const TableShard>)>& use) override;
  void require_alone() override {}  // its lock of the file lasts as long as the process

 private:
  static Database open(const std::filesystem::path& file, const Json& options);
  // All within a transaction.
  bool holds(int64_t lease);
  void end_old_leases();
  // Duplicates of what is no longer claimed or done wait again.
  void free_duplicates();
  void write(int64_t lease, const RecordingResult& result, const std::string& shard);
  // Removes the lease and what was announced under it.
  void drop(int64_t lease);

  std::mutex mutex_;
  Database database_;
  double lease_s_;
};

}  // namespace hum::app
