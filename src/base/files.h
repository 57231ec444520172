// Whole-file reads and atomic writes.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace hum {

// The path without links and "..", as far as it exists; never throws.
std::filesystem::path real_path(const std::filesystem::path& path);

// False also for a path that cannot be looked up (a loop of links).
bool is_folder(const std::filesystem::path& path);

// Throws: kNoInput if the path is missing or cannot be looked up (a loop of links), kNoPermission.
void require_exists(const std::filesystem::path& path, const std::string& hint);
// Throws: what require_exists throws; kNoInput if the path is not a folder.
void require_folder(const std::filesystem::path& path, const std::string& hint);

// A file to be read in pieces. Throws: kNoInput if the path is missing or a folder, kNoPermission
// if it is unreadable.
std::ifstream open_to_read(const std::filesystem::path& path);
// The whole file, or all that a pipe gives. Throws: what open_to_read throws; kNoInput if the disk
// fails.
std::string read_file(const std::filesystem::path& path);
// The same for text. Throws also: kBadData if it is over 256 MB, or, naming the line, not UTF-8.
std::string read_text(const std::filesystem::path& path);

// Writes a temporary file (same folder, "<name>.tmp-<pid>-<n>"); commit() renames it over `path`.
// Without commit() the temporary file is removed and `path` is untouched. Throws: kCannotCreate if
// the folder cannot be written, the disk is full or `path` is not a regular file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Keeps the extension of `path`, so that libraries that look at it choose the right format.
  const std::filesystem::path& temporary_path() const { return temporary_; }
  void write(std::string_view bytes);
  // Flushes the file to disk (fsync) and renames it.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  bool committed_ = false;
};

// Writes an AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// Flushes a file, or the entries of a folder, to the disk (fsync): a rename outlasts a power cut
// once its folder is there. Returns 0, or errno.
int flush_to_disk(const std::filesystem::path& path);

// Creates the folder and its parents; it may already exist. Throws: kCannotCreate, kNoPermission.
void create_folder(const std::filesystem::path& path);

// A folder for results. Creates it and its parents like create_folder. When the object ends, those
// that it created and that are still empty are removed, so that failed work leaves none behind.
class OutputFolder {
 public:
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  // Another one, which may lie inside the first.
  void add(const std::filesystem::path& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::vector<std::filesystem::path> created_;  // the innermost first
};

// Throws kCannotCreate if `path` cannot be written. Call it before long work.
void require_writable(const std::filesystem::path& path);

}  // namespace hum
