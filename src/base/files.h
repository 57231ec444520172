// Whole-file reads, atomic writes and hashes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;  // of OpenSSL

namespace hum {

// The path without links and "..", as far as it exists; never throws.
std::filesystem::path real_path(const std::filesystem::path& path);

// False also for a path that cannot be looked up (a loop of links).
bool is_folder(const std::filesystem::path& path);

// Throws: kNoInput if the path is missing or cannot be looked up (a loop of links), kNoPermission.
void require_exists(const std::filesystem::path& path, const std::string& hint);
// Throws: what require_exists throws; kNoInput if the path is not a folder.
void require_folder(const std::filesystem::path& path, const std::string& hint);

// Throws: kNoInput if the path is missing or a folder, kNoPermission if it is unreadable.
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

// The SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();

  void add(std::string_view bytes);
  // Of all that was added, in lower-case hex. Call it once, at the end.
  std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

// Returns lower-case hex.
std::string sha256(std::string_view bytes);
// Reads the file piece by piece. Throws: what read_file throws.
std::string sha256_file(const std::filesystem::path& path);
// Returns the 32 bytes themselves.
std::string hmac_sha256(std::string_view key, std::string_view text);
// On one line, padded with '='.
std::string base64(std::string_view bytes);

// HUM_CACHE, else $XDG_CACHE_HOME/hum, else ~/.cache/hum; empty if there is no home folder, because
// nothing is created in place of one.
std::filesystem::path cache_folder();
// HUM_RUNS, else cache_folder()/runs: long trainings and their items, outside any source tree.
// Empty like cache_folder().
std::filesystem::path runs_folder();
// `path` with runs_folder() in place of a leading "$HUM_RUNS". Throws: kUsage if there is none.
std::string with_runs_folder(const std::string& path);
// The repository root, for tests and the build tree: HUM_SOURCE_DIR, else the compiled-in source
// folder.
std::filesystem::path source_folder();
// The folder of weights/, configs/, hardware/ and examples/: PREFIX/share/hum if the program lies
// in the PREFIX/bin of `make install`, else source_folder().
std::filesystem::path data_folder();
// A path below data_folder() as a user can type it: "examples/a.wav" in the source tree, the whole
// path if hum is installed.
std::string typed_data_path(const std::string& path);
// The folders of unpacked wheels (plugins, Basic Pitch's weights), to be searched in this order:
// HUM_THIRD_PARTY, then PREFIX/lib/hum of an installed program, or the build's third_party.
std::vector<std::filesystem::path> wheel_folders();

}  // namespace hum
