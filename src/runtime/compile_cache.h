// Caches compiled programs on disk. Each entry is one file, written under a temporary name and
// renamed, so that any number of processes may share a folder. A truncated, damaged or foreign file
// is a miss.
//
// An entry: "hum-program 1 <SHA-256 of all that follows>\n", a line of JSON (name, key fields), and
// the plugin's serialised executable. If it is known to run here, the file's owner execute bit is
// set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/cache_key.h"
#include "runtime/shared_cache.h"

namespace hum::runtime {

class CompileCache {
 public:
  // With an empty `folder`, nothing is cached. The least recently used entries are removed when the
  // total exceeds `limit_bytes`. `shared`: a second level, on a path that several machines mount or
  // at an s3:// URL. It is read on a miss, its entries are copied to `folder`, and it is never
  // pruned.
  explicit CompileCache(std::filesystem::path folder, const std::string& shared = {},
                        int64_t limit_bytes = int64_t{8} << 30)
      : folder_(std::move(folder)), shared_(open_shared_cache(shared)), limit_bytes_(limit_bytes) {}

  bool enabled() const { return !folder_.empty() || shared_ != nullptr; }
  const std::filesystem::path& folder() const { return folder_; }

  struct Lookup {
    std::optional<std::string> program;  // the serialised executable, on a hit
    bool corrupt = false;                // an entry exists, but cannot be used
    std::string cause;                   // why it is a miss, for messages
  };
  Lookup load(const std::string& name, const CacheKey& key) const;
  // Stores on both levels; the first level marks the program as known to run here. Warns once if a
  // folder cannot be written; never throws.
  void store(const std::string& name, const CacheKey& key, const std::string& program) const;

  // Whether the first-level entry was compiled or has run on this machine or one with the same key;
  // and records that it has. Other entries run once with their arguments kept, which takes twice
  // the memory.
  bool has_run(const std::string& name, const CacheKey& key) const;
  void mark_run(const std::string& name, const CacheKey& key) const;

  // The file of an entry: "<name>-<first 32 digits of the key's hash>.program".
  std::filesystem::path entry_path(const std::string& name, const CacheKey& key) const;

 private:
  Lookup load_from(const std::filesystem::path& path, const CacheKey& key) const;
  // Copies the file's entry from the second level to the first and returns it.
  std::optional<std::string> load_shared(const std::string& file, const CacheKey& key) const;
  std::string explain_miss(const std::string& name, const CacheKey& key) const;
  void prune() const;
  std::filesystem::path folder_;
  std::unique_ptr<SharedCache> shared_;
  int64_t limit_bytes_;
};

}  // namespace hum::runtime
