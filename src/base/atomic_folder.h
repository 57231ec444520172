// A folder that is never seen half written.
#pragma once

#include <filesystem>
#include <string>

namespace hum {

// Written aside (same parent, ".<name>.aside-<pid>") and put in `path`'s place by commit(). An
// older folder there is exchanged in one step where the file system can, so that a kill at any
// moment leaves one of the two whole. Without commit() nothing is left behind and what stood at
// `path` is untouched; what killed processes left aside of the same name is removed. Throws:
// kCannotCreate, kNoPermission when the parent cannot be written.
class AtomicFolder {
 public:
  // mark: a file that folders of this kind hold; what is at `path` and is neither empty nor holds
  // it is not replaced (kCannotCreate). Empty: anything may be.
  explicit AtomicFolder(const std::filesystem::path& path, const std::string& mark = {});
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
