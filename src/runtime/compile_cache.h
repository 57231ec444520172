// Compiled programs on disk. One file an entry, written aside and renamed, so that any number of
// processes may share a folder; what is truncated, damaged or foreign is a miss.
//
// An entry: "hum-program 1 <SHA-256 of all that follows>\n", a line of JSON (name, key fields), and
// the plugin's serialised executable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/cache_key.h"

namespace hum::runtime {

class CompileCache {
 public:
  // An empty folder: a cache that never holds anything. Entries used longest ago go when all
  // together exceed `limit_bytes`.
  explicit CompileCache(std::filesystem::path folder, int64_t limit_bytes = int64_t{8} << 30)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  bool enabled() const { return !folder_.empty(); }
  const std::filesystem::path& folder() const { return folder_; }

  struct Lookup {
    std::optional<std::string> program;  // the serialised executable, on a hit
    bool corrupt = false;                // an entry was there, but could not be used
    std::string cause;                   // of a miss, for people
  };
  Lookup load(const std::string& name, const CacheKey& key) const;
  // A folder that cannot be written is warned of once; nothing is thrown.
  void store(const std::string& name, const CacheKey& key, const std::string& program) const;

  // The file of an entry: "<name>-<first 32 digits of the key's hash>.program".
  std::filesystem::path entry_path(const std::string& name, const CacheKey& key) const;

 private:
  std::string explain_miss(const std::string& name, const CacheKey& key) const;
  void prune() const;
  std::filesystem::path folder_;
  int64_t limit_bytes_;
};

}  // namespace hum::runtime
