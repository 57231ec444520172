#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/open_file.h"

namespace hum {
namespace fs = std::filesystem;
namespace {

ExitCode exit_code_of(int error_number, ExitCode otherwise) {
  return error_number == EACCES || error_number == EPERM ? ExitCode::kNoPermission : otherwise;
}

[[noreturn]] void fail_to_create(
    const fs::path& path, int error_number,
    const char* hint = "check that the folder exists and is writable") {
  fail(exit_code_of(error_number, ExitCode::kCannotCreate),
       fmt::format("{}: cannot write: {}", path.string(), std::strerror(error_number)),
       error_number == ENOSPC ? "free some disk space and run the command again" : hint);
}

// Without an error there is no such thing. Otherwise: a loop of links, a name that is too long.
[[noreturn]] void fail_to_find(const fs::path& path, std::error_code error, const char* what,
                               const std::string& hint) {
  fail(exit_code_of(error.value(), ExitCode::kNoInput),
       fmt::format("{}: {}", path.string(),
                   error ? error.message() : fmt::format("no such {}", what)),
       hint);
}

OpenFile open_file(const fs::path& path, int flags) {
  return OpenFile(::open(path.c_str(), flags, 0644));
}

fs::path temporary_name(const fs::path& path) {
  static std::atomic<int> counter = 0;
  const std::string stem =
      fmt::format(".{}.tmp-{}-{}", path.stem().string(), ::getpid(), ++counter);
  return path.parent_path() / (stem + path.extension().string());
}

// The folders of devices and of the kernel, but not shared memory.
bool is_among_devices(const fs::path& path) {
  const std::string place = real_path(path).string();
  if (place.starts_with("/dev/")) return !place.starts_with("/dev/shm/");
  return place.starts_with("/proc/") || place.starts_with("/sys/");
}

void require_no_device(const fs::path& path) {
  if (!is_among_devices(path)) return;
  fail(ExitCode::kCannotCreate, path.string() + ": hum writes no files among devices",
       "name a file elsewhere; -o - writes to stdout, where a command supports it");
}

// Returns false and sets errno if the file cannot be created or already exists.
bool create_new(const fs::path& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC).is_open();
}

// The bytes of the UTF-8 character at the start of `text`; 0 if it is not one.
size_t utf8_length(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = at(0);
  size_t length = first < 0x80 ? 1 : 0;
  if (first >= 0xC2 && first < 0xF5) length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than necessary, half of a UTF-16 pair, or above U+10FFFF.
  const bool is_invalid = (first == 0xE0 && at(1) < 0xA0) || (first == 0xED && at(1) >= 0xA0) ||
                          (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) >= 0x90);
  return is_invalid ? 0 : length;
}

}  // namespace

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  fs::path real = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : real;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void require_exists(const fs::path& path, const std::string& hint) {
  std::error_code error;
  if (!fs::exists(path, error)) fail_to_find(path, error, "file", hint);
}

void require_folder(const fs::path& path, const std::string& hint) {
  std::error_code error;
  if (!fs::exists(path, error)) fail_to_find(path, error, "folder", hint);
  if (!is_folder(path)) fail(ExitCode::kNoInput, path.string() + ": is not a folder", hint);
}

namespace {

constexpr size_t kMostText_bytes = size_t{256} << 20;

void require_file(const fs::path& path) {
  require_exists(path, "check the path");
  if (!is_folder(path)) return;
  fail(ExitCode::kNoInput, path.string() + ": is a folder", "name a file inside it");
}

[[noreturn]] void fail_to_open(const fs::path& path, int error_number) {
  fail(exit_code_of(error_number, ExitCode::kNoInput), path.string() + ": cannot read",
       "check its permissions (ls -l)");
}

// The size of a regular file, and one byte to see its end. The size of a pipe, a device or a file
// of the kernel (/proc) is 0 whatever they hold.
size_t first_buffer_bytes(const OpenFile& file, size_t most_bytes) {
  struct stat status {};
  const bool has_size = ::fstat(file.descriptor(), &status) == 0 && status.st_size > 0;
  return has_size ? std::min(static_cast<size_t>(status.st_size), most_bytes) + 1 : size_t{1} << 16;
}

// Stops at the first byte too many: a device may be endless.
std::string read_whole(const fs::path& path, size_t most_bytes) {
  require_file(path);
  const OpenFile file = open_file(path, O_RDONLY | O_CLOEXEC);
  if (!file.is_open()) fail_to_open(path, errno);
  std::string bytes(first_buffer_bytes(file, most_bytes), '\0');
  size_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(2 * size);
    const ssize_t count = ::read(file.descriptor(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(ExitCode::kNoInput,
           fmt::format("{}: cannot be read to its end: {}", path.string(), std::strerror(errno)),
           "check the disk (dmesg)");
    }
    if (count == 0) break;
    size += static_cast<size_t>(count);
    if (size <= most_bytes) continue;
    fail(ExitCode::kBadData, fmt::format("{}: over {} MB of text", path.string(), most_bytes >> 20),
         "check the path");
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

std::ifstream open_to_read(const fs::path& path) {
  require_file(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_to_open(path, errno);
  return in;
}

std::string read_file(const fs::path& path) {
  return read_whole(path, std::numeric_limits<size_t>::max() - 1);
}

std::string read_text(const fs::path& path) {
  std::string text = read_whole(path, kMostText_bytes);
  int64_t line = 1;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    length = utf8_length(std::string_view(text).substr(at));
    if (length == 0) {
      fail(ExitCode::kBadData, fmt::format("{}:{}: not UTF-8 text", path.string(), line),
           "save the file as UTF-8; iconv -f LATIN1 -t UTF-8 converts text of older programs");
    }
    if (text[at] == '\n') ++line;
  }
  return text;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  if (fs::is_symlink(path_, error)) path_ = real_path(path_);
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) {
    fail(ExitCode::kCannotCreate, path_.string() + ": is a folder", "name a file inside it");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail(ExitCode::kCannotCreate, path_.string() + ": is a device or a pipe, not a file",
         "name a file; -o - writes to stdout, where a command supports it");
  }
  require_no_device(path_);
  bool created = false;
  do {  // a killed process with the same pid may have left this file
    temporary_ = temporary_name(path_);
    created = create_new(temporary_);
  } while (!created && errno == EEXIST);
  if (!created) fail_to_create(path_, errno);
}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!committed_) fs::remove(temporary_, ignored);
}

void AtomicFile::write(std::string_view bytes) {
  const OpenFile file = open_file(temporary_, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (!file.is_open()) fail_to_create(path_, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_to_create(path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  if (const int fault = flush_to_disk(temporary_); fault != 0) fail_to_create(path_, fault);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_create(path_, errno);
  committed_ = true;
}

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

int flush_to_disk(const fs::path& path) {
  const OpenFile file = open_file(path, O_RDONLY | O_CLOEXEC);
  return file.is_open() && ::fsync(file.descriptor()) == 0 ? 0 : errno;
}

void create_folder(const fs::path& path) {
  require_no_device(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    fail_to_create(path, error.value(), "choose a folder that you can write to");
  }
}

OutputFolder::OutputFolder(const fs::path& path) { add(path); }

void OutputFolder::add(const fs::path& path) {
  std::error_code ignored;
  std::vector<fs::path> missing;
  for (fs::path at = fs::absolute(path).lexically_normal(); !fs::exists(at, ignored);
       at = at.parent_path()) {
    if (at == at.parent_path()) break;             // the root of a path that cannot be looked up
    if (at.has_filename()) missing.push_back(at);  // not the empty name after a last '/'
  }
  create_folder(path);
  created_.insert(created_.begin(), missing.begin(), missing.end());
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (const fs::path& folder : created_) fs::remove(folder, ignored);  // only if it is empty
}

void require_writable(const fs::path& path) { AtomicFile probe(path); }

}  // namespace hum
