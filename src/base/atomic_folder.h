// A folder that is never seen half written.
#pragma once

#include <filesystem>

namespace hum {

// Written aside (same parent, ".<name>.aside-<pid>") and put in `path`'s place by commit(). An
// older folder there is exchanged in one step where the file system can, so that a kill at any
// moment leaves one of the two whole. Without commit() nothing is left behind and what stood at
// `path` is untouched; what killed processes left aside of the same name is removed. Throws:
// kCannotCreate, kNoPermission when the parent cannot be written.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::filesystem::path& path);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary_path() const { return temporary_; }
  void commit();

 private:
  std::filesystem::path path_, temporary_;
};

// Removes what processes that run no more left aside in `parent`, of folders whose names begin so.
void remove_abandoned_folders(const std::filesystem::path& parent, const std::string& prefix);

}  // namespace hum
