// Files: whole reads, writes that are never seen half done, hashes.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hum {

// Throws: kNoInput when it is missing or a folder, kNoPermission when unreadable.
std::string read_file(const std::filesystem::path& path);

// A file written aside (same folder, "<name>.tmp-<pid>-<n>") and renamed over `path` by commit().
// Without commit() the temporary file is removed and whatever stood at `path` is untouched. Throws:
// kCannotCreate when the folder cannot be written, the disk is full or `path` is no regular file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Keeps the extension of `path`, so that libraries which look at it pick the right format.
  const std::filesystem::path& temporary_path() const { return temporary_; }
  void write(std::string_view bytes);
  // Flushes to disk (fsync) and renames.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  bool committed_ = false;
};

// AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// With all folders above it; it may be there. Throws: kCannotCreate, kNoPermission.
void create_folder(const std::filesystem::path& path);

// Throws kCannotCreate before any work is done when `path` could not be written later.
void require_writable(const std::filesystem::path& path);

// Lower-case hex.
std::string sha256(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& path);

// $XDG_CACHE_HOME/hum, ~/.cache/hum, or HUM_CACHE.
std::filesystem::path cache_folder();
// The repository root while tests or the build tree are in use: HUM_SOURCE_DIR, else the
// compiled-in source folder.
std::filesystem::path source_folder();

}  // namespace hum
