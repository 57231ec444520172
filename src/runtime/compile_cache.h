// Compiled programs on disk. One file an entry, written aside and renamed, so that any number of
// processes may share a folder; what is truncated, damaged or foreign is a miss.
//
// An entry: "hum-program 1 <SHA-256 of all that follows>\n", a line of JSON (name, key fields), and
// the plugin's serialised executable. One that is known to run here carries its owner's execute
// bit.
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
  // An empty folder: a cache that never holds anything. Entries used longest ago go when all
  // together exceed `limit_bytes`. `shared`: a second level, on a path that several machines mount
  // or at an s3:// URL; it is asked on a miss, what it has is copied to `folder`, and it is never
  // pruned.
  explicit CompileCache(std::filesystem::path folder, const std::string& shared = {},
                        int64_t limit_bytes = int64_t{8} << 30)
      : folder_(std::move(folder)), shared_(open_shared_cache(shared)), limit_bytes_(limit_bytes) {}

  bool enabled() const { return !folder_.empty() || shared_ != nullptr; }
  const std::filesystem::path& folder() const { return folder_; }

  struct Lookup {
    std::optional<std::string> program;  // the serialised executable, on a hit
    bool corrupt = false;                // an entry was there, but could not be used
    std::string cause;                   // of a miss, for people
  };
  Lookup load(const std::string& name, const CacheKey& key) const;
  // On both levels; a program of this machine, which the first level takes to run here. A folder
  // that cannot be written is warned of once; nothing is thrown.
  void store(const std::string& name, const CacheKey& key, const std::string& program) const;

  // Whether the entry of the first level was compiled, or has run, on this machine or one with the
  // same key; and that it has. Another is run once with its arguments kept, which takes twice the
  // memory.
  bool has_run(const std::string& name, const CacheKey& key) const;
  void mark_run(const std::string& name, const CacheKey& key) const;

  // The file of an entry: "<name>-<first 32 digits of the key's hash>.program".
  std::filesystem::path entry_path(const std::string& name, const CacheKey& key) const;

 private:
  Lookup load_from(const std::filesystem::path& path, const CacheKey& key) const;
  // What the second level has for the file, copied to the first.
  std::optional<std::string> load_shared(const std::string& file, const CacheKey& key) const;
  std::string explain_miss(const std::string& name, const CacheKey& key) const;
  void prune() const;
  std::filesystem::path folder_;
  std::unique_ptr<SharedCache> shared_;
  int64_t limit_bytes_;
};

}  // namespace hum::runtime
