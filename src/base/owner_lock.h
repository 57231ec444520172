// A lock that one process on this machine holds: on a file, which the system lets go when the
// process ends, however it ends. So it also tells whether a process is alive.
#pragma once

#include <filesystem>
#include <string>

namespace hum {

class OwnerLock {
 public:
  // Creates and locks "<folder>/<name>.lock", which holds the process's id. Throws: kTemporary if
  // another owner holds it, with the text `held`, its process and `hint`; kCannotCreate (also
  // where the file system has no locks), kNoPermission.
  OwnerLock(const std::filesystem::path& folder, const std::string& name,
            const std::string& held = "another process holds this lock",
            const std::string& hint = "wait until it ends, or stop it");
  // Removes the file.
  ~OwnerLock();
  OwnerLock(const OwnerLock&) = delete;
  OwnerLock& operator=(const OwnerLock&) = delete;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

// Whether nobody holds the lock. Removes the file of a process that was killed.
bool is_unlocked(const std::filesystem::path& folder, const std::string& name);

}  // namespace hum
