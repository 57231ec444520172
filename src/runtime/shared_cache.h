// The second level of the compile cache: entries by file name, shared by several machines, in a
// folder or in S3. Nothing here throws: a failing level warns once and only costs time.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace hum::runtime {

class SharedCache {
 public:
  virtual ~SharedCache() = default;
  // Returns nullopt if there is no such entry or the level cannot be read.
  virtual std::optional<std::string> get(const std::string& file) = 0;
  // May return before the entry is stored; the destructor waits for it for a limited time.
  virtual void put(const std::string& file, std::string entry) = 0;
};

// `place`: a path or s3://bucket/prefix; returns null if it is empty.
std::unique_ptr<SharedCache> open_shared_cache(const std::string& place);

// HUM_CACHE_SECOND, else NEURON_COMPILE_CACHE_URL: a path (also as a file:// URL) or an s3:// URL;
// empty if neither is set. Throws kConfig for other URLs.
std::string shared_cache_place();

// Writes an entry under a temporary name and renames it; returns false and warns once on failure.
// `variable`: the environment variable that names the folder.
bool keep_entry(const std::string& folder, const std::string& file, const std::string& entry,
                const char* variable = "HUM_CACHE");

}  // namespace hum::runtime
