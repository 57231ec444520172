#include "base/atomic_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "base/error.h"
#include "base/files.h"

namespace hum {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kAside = ".aside-";

// Whether the process named in ".<name>.aside-<pid>" is this one or has ended.
bool is_abandoned(const std::string& name) {
  const size_t at = name.rfind(kAside);
  if (at == std::string::npos) return false;
  pid_t pid = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + at + kAside.size(), end, pid);
  if (parsed.ec != std::errc{} || parsed.ptr != end || pid <= 0) return false;
  return pid == ::getpid() || (::kill(pid, 0) != 0 && errno == ESRCH);
}

void require_replaceable(const fs::path& path, const std::string& mark) {
  if (!fs::exists(path) || fs::exists(path / mark)) return;
  if (fs::is_directory(path) && fs::is_empty(path)) return;
  fail(ExitCode::kCannotCreate,
       fmt::format("{} exists and has no {}: its contents would be lost", path.string(), mark),
       "name a folder that does not exist yet");
}

// For file systems without an atomic exchange: for a moment there is nothing at `path`.
void replace_in_two_steps(const fs::path& temporary, const fs::path& path) {
  const fs::path old = temporary.string() + "-old";
  fs::remove_all(old);
  fs::rename(path, old);
  fs::rename(temporary, path);
  fs::remove_all(old);
}

}  // namespace

void remove_abandoned_folders(const fs::path& parent, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && is_abandoned(name)) fs::remove_all(entry.path(), ignored);
  }
}

AtomicFolder::AtomicFolder(const fs::path& path, const std::string& mark, const std::string& kept)
    : path_(fs::absolute(path).lexically_normal()), kept_(kept) {
  if (!path_.has_filename()) path_ = path_.parent_path();  // "report/"
  if (!mark.empty()) require_replaceable(path_, mark);
  const std::string name = path_.filename().string(), prefix = fmt::format(".{}{}", name, kAside);
  temporary_ = path_.parent_path() / (kept.empty() ? fmt::format("{}{}", prefix, ::getpid())
                                                   : fmt::format(".{}.unfinished", name));
  remove_abandoned_folders(path_.parent_path(), prefix);
  parent_ = std::make_unique<OutputFolder>(path_.parent_path());
  create_folder(temporary_);
  if (kept.empty()) return;
  lock();
  if (!fs::exists(temporary_ / kept)) clear();
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (kept_.empty() || !fs::exists(temporary_ / kept_, ignored)) {
    fs::remove_all(temporary_, ignored);
  }
  if (lock_ >= 0) ::close(lock_);
}

void AtomicFolder::lock() {
  lock_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  if (lock_ >= 0) ::close(lock_);
  fail(ExitCode::kTemporary, fmt::format("{}: another process is writing it", path_.string()),
       "wait until it has ended, or name another folder");
}

void AtomicFolder::clear() const {
  for (const auto& entry : fs::directory_iterator(temporary_)) fs::remove_all(entry.path());
}

void AtomicFolder::commit() {
  if (!fs::exists(path_)) {
    fs::rename(temporary_, path_);
  } else if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) ==
             0) {
    fs::remove_all(temporary_);  // the old folder
  } else {
    replace_in_two_steps(temporary_, path_);
  }
}

}  // namespace hum
