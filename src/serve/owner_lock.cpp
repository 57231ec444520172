#include "serve/owner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"

namespace hum::serve {
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

}  // namespace

OwnerLock::OwnerLock(const fs::path& folder, const std::string& name)
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
    if (is_locked && is_same(file_, path_)) return;
    ::close(file_);
    if (!is_locked) break;
  }
  fail(ExitCode::kTemporary, fmt::format("{}: another process holds this lock", path_.string()),
       "stop it first, or use another --data folder");
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

}  // namespace hum::serve
