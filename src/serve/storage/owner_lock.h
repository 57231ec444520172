// Tells whether a process on this machine is alive: it holds a lock on a file, which the system
// lets go when the process ends, however it ends.
#pragma once

#include <filesystem>
#include <string>

namespace hum::serve {

class OwnerLock {
 public:
  // Creates and locks "<folder>/<name>.lock", which holds the process's id. Throws: kTemporary if
  // another process holds it, with the text `held` and that process; kCannotCreate, kNoPermission.
  OwnerLock(const std::filesystem::path& folder, const std::string& name,
            const std::string& held = "another process holds this lock");
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

}  // namespace hum::serve
