// The second level of the compile cache: entries by file name, shared by several machines, in a
// folder or in S3. Nothing here throws: a level that fails is warned of once and costs time only.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace hum::runtime {

class SharedCache {
 public:
  virtual ~SharedCache() = default;
  // Absent when it has no such entry, or cannot be asked.
  virtual std::optional<std::string> get(const std::string& file) = 0;
  // May return before the entry is there; the destructor waits for it, for a while.
  virtual void put(const std::string& file, std::string entry) = 0;
};

// `place`: a path, or s3://bucket/prefix; null when it is empty.
std::unique_ptr<SharedCache> open_shared_cache(const std::string& place);

// HUM_CACHE_SECOND, else NEURON_COMPILE_CACHE_URL: a path (of a file:// URL too), or an s3:// URL;
// empty when neither is set. Throws kConfig for other URLs.
std::string shared_cache_place();

// Writes an entry aside and renames it; false, warned of once, when that cannot be.
bool keep_entry(const std::string& folder, const std::string& file, const std::string& entry);

}  // namespace hum::runtime
