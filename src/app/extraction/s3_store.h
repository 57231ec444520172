// Shards of features in a bucket of S3 or a compatible server.
#pragma once

#include <string>

#include "app/extraction/shard_store.h"
#include "base/s3.h"

namespace hum::app {

// Those of the environment, and the patience to wait for a server that starts again. Throws: what
// s3_options_from_environment throws.
S3Options shard_options_from_environment();

class S3Store : public ShardStore {
 public:
  // `url`: s3://bucket/prefix. Sends nothing.
  S3Store(std::string url, S3Options options);
  void put(const data::ShardEntry& entry, std::string_view archive) override;
  std::vector<StoredFile> list() const override;
  bool remove(const std::string& name) override;
  bool has_list() const override;
  void write_list(const Json& options, std::span<const data::ShardEntry> shards) override;
  std::string mark() const override;
  void set_mark(const std::string& id) override;

 private:
  std::string key(std::string_view name) const;
  bool has(std::string_view name) const;

  std::string url_, prefix_;
  S3Bucket bucket_;
};

}  // namespace hum::app
