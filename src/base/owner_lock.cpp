#include "base/owner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace hum {
namespace {

namespace fs = std::filesystem;

// Whether the path still names the open file: its last owner may have removed it meanwhile.
bool is_same(int file, const fs::path& path) {
  struct stat held {
  }, named{};
  return ::fstat(file, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

fs::path lock_file(const fs::path& folder, const std::string& name) {
  return folder / (name + ".lock");
}

// Only for the message to those who find the lock held, so a full disk does not matter.
void write_owner(int file) {
  const std::string id = std::to_string(::getpid());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, id.data(), id.size(), 0) < 0) {
    spdlog::debug("the process's id cannot be written to its lock: {}", std::strerror(errno));
  }
}

// Empty: unknown.
std::string read_owner(int file) {
  std::array<char, 20> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  const std::string id(text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return id.find_first_not_of("0123456789") == std::string::npos ? id : "";
}

}  // namespace

OwnerLock::OwnerLock(const fs::path& folder, const std::string& name, const std::string& held,
                     const std::string& hint)
    : path_(lock_file(folder, name)) {
  create_folder(folder);
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) {
      fail(errno == EACCES ? ExitCode::kNoPermission : ExitCode::kCannotCreate,
           fmt::format("{}: cannot be created: {}", path_.string(), std::strerror(errno)),
           "check the folder's permissions and that the disk is not full");
    }
    const bool is_locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (is_locked && is_same(file_, path_)) {
      write_owner(file_);
      return;
    }
    const int fault = is_locked ? 0 : errno;
    const std::string owner = is_locked ? "" : read_owner(file_);
    ::close(file_);
    if (is_locked) continue;  // of a file that its last owner removed
    if (fault != EWOULDBLOCK) {
      fail(ExitCode::kCannotCreate,
           fmt::format("{}: cannot be locked: {}", path_.string(), std::strerror(fault)),
           "use a folder on a file system with locks");
    }
    fail(ExitCode::kTemporary, owner.empty() ? held : fmt::format("{} (process {})", held, owner),
         hint);
  }
}

OwnerLock::~OwnerLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

bool is_unlocked(const fs::path& folder, const std::string& name) {
  const fs::path path = lock_file(folder, name);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  const bool is_free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
  if (is_free) ::unlink(path.c_str());
  ::close(file);
  return is_free;
}

}  // namespace hum
