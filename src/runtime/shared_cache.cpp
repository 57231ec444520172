#include "runtime/shared_cache.h"

#include <filesystem>

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/s3.h"
#include "runtime/s3_cache.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;

class FolderCache : public SharedCache {
 public:
  explicit FolderCache(fs::path folder) : folder_(std::move(folder)) {}

  std::optional<std::string> get(const std::string& file) override {
    std::error_code error;
    if (!fs::exists(folder_ / file, error)) return std::nullopt;
    try {
      return read_file(folder_ / file);
    } catch (const Error& failure) {
      warn_once("compile cache " + folder_.string(), failure.message());
      return std::nullopt;
    }
  }
  void put(const std::string& file, std::string entry) override {
    keep_entry(folder_.string(), file, entry, "HUM_CACHE_SECOND");
  }

 private:
  fs::path folder_;
};

}  // namespace

bool keep_entry(const std::string& folder, const std::string& file, const std::string& entry,
                const char* variable) {
  try {
    create_folder(folder);
    write_file(fs::path(folder) / file, entry);
    return true;
  } catch (const std::exception& failure) {
    const auto* error = dynamic_cast<const Error*>(&failure);
    warn_once("compile cache " + folder,
              fmt::format("compiled programs cannot be cached in {}: {}\nhint: set {} to a folder "
                          "that you can write to",
                          folder, error != nullptr ? error->message() : failure.what(), variable));
    return false;
  }
}

std::unique_ptr<SharedCache> open_shared_cache(const std::string& place) {
  if (place.empty()) return nullptr;
  if (is_s3_url(place)) return std::make_unique<S3Cache>(place);
  return std::make_unique<FolderCache>(place);
}

std::string shared_cache_place() {
  const std::string own = env_string("HUM_CACHE_SECOND");
  const std::string place = own.empty() ? env_string("NEURON_COMPILE_CACHE_URL") : own;
  constexpr std::string_view kFile = "file://";
  if (place.starts_with(kFile)) return place.substr(kFile.size());
  if (is_s3_url(place)) {
    parse_s3_url(place);  // throws if there is no bucket
    return place;
  }
  if (place.find("://") != std::string::npos) {
    fail(ExitCode::kConfig, fmt::format("the compile cache cannot be at {}", place),
         "give a path or s3://bucket/prefix; or mount the bucket: HUM_CACHE_SECOND=/mnt/cache");
  }
  return place;
}

}  // namespace hum::runtime
