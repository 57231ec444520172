#include "serve/storage/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "base/error.h"
#include "base/files.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

// Keys come from ids and names that the service made; this catches a mistake before it is a path.
bool is_key(const std::string& key) {
  const bool is_plain = std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  });
  return is_plain && !key.empty() && key.front() != '/' && key.find("..") == std::string::npos;
}

[[noreturn]] void fail_to_store(const fs::path& path, int error) {
  fail(ExitCode::kCannotCreate,
       fmt::format("{}: cannot be stored: {}", path.string(), std::strerror(error)),
       "check that the disk is not full");
}

void flush(const fs::path& path) {
  if (const int fault = flush_to_disk(path); fault != 0) fail_to_store(path, fault);
}

int64_t milliseconds(fs::file_time_type time) {
  using std::chrono::duration_cast;
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return duration_cast<std::chrono::milliseconds>(since).count();
}

}  // namespace

void require_writable_folder(const fs::path& folder) {
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  fail(ExitCode::kNoPermission,
       fmt::format("{}: cannot write: {}", folder.string(), std::strerror(errno)),
       "it and all that is in it must belong to the user of the service (ls -la); after a restore: "
       "chown -R");
}

FolderStore::FolderStore(fs::path folder) : folder_(std::move(folder)) {
  create_folder(folder_);
  for (const char* name : {"aside", "uploads", "jobs"}) {
    create_folder(folder_ / name);
    require_writable_folder(folder_ / name);
  }
}

fs::path FolderStore::path_of(const std::string& key) const {
  HUM_CHECK(is_key(key), "'{}' is not a key", key);
  return folder_ / key;
}

void FolderStore::put(const std::string& key, const fs::path& file) {
  const fs::path target = path_of(key);
  create_folder(target.parent_path());
  flush(file);
  std::error_code fault;
  fs::rename(file, target, fault);
  if (fault) fail_to_store(target, fault.value());
  flush(target.parent_path());
  flush(target.parent_path().parent_path());  // the folder itself may be new
}

std::optional<fs::path> FolderStore::find(const std::string& key) const {
  fs::path path = path_of(key);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  return path;
}

fs::path FolderStore::growing(const std::string& key) {
  fs::path path = path_of(key);
  create_folder(path.parent_path());
  return path;
}

void FolderStore::remove(const std::string& key) {
  std::error_code ignored;
  fs::remove(path_of(key), ignored);
}

void FolderStore::remove_all(const std::string& prefix) {
  std::error_code ignored;
  fs::remove_all(path_of(prefix), ignored);
}

std::vector<Store::Entry> FolderStore::list(const std::string& prefix) const {
  std::vector<Entry> entries;
  std::error_code fault;
  // Other processes add and remove files meanwhile.
  for (fs::recursive_directory_iterator at(path_of(prefix), fault), end; !fault && at != end;
       at.increment(fault)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const auto bytes = at->file_size(gone);
    const auto changed = at->last_write_time(gone);
    if (gone) continue;
    entries.push_back({at->path().lexically_relative(folder_).string(), static_cast<int64_t>(bytes),
                       milliseconds(changed)});
  }
  std::ranges::sort(entries, {}, &Entry::key);
  return entries;
}

void FolderStore::clear_aside(std::chrono::milliseconds unchanged_for) {
  const auto newest = fs::file_time_type::clock::now() - unchanged_for;
  std::vector<fs::path> old;
  std::error_code fault;
  for (fs::directory_iterator at(aside(), fault), end; !fault && at != end; at.increment(fault)) {
    std::error_code gone;
    const auto changed = at->last_write_time(gone);
    if (!gone && changed < newest) old.push_back(at->path());
  }
  for (const fs::path& path : old) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
}

}  // namespace hum::serve
