// Writes a folder so that no reader ever sees it half written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/files.h"

namespace hum {

// Writes a folder under a temporary name (same parent, ".<name>.aside-<pid>"); commit() moves it to
// `path`. If a folder is already there, the two are exchanged in one step where the file system
// allows, so a kill at any moment leaves one of the two whole. Without commit() the temporary
// folder is removed and `path` is untouched. Also removes temporary folders of the same name that
// killed processes left. Throws: kCannotCreate, kNoPermission if the parent cannot be written.
class AtomicFolder {
 public:
  // mark: a file that every folder of this kind contains. A non-empty folder at `path` without it
  // is not replaced (kCannotCreate). Empty: any folder may be replaced.
  // kept: a file that makes an unfinished folder worth keeping. The temporary name is then
  // ".<name>.unfinished", and a folder there with that file is continued. Only one process at a
  // time may have it: throws kTemporary if another one has. Empty: none is kept.
  explicit AtomicFolder(const std::filesystem::path& path, const std::string& mark = {},
                        const std::string& kept = {});
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary_path() const { return temporary_; }
  // Removes what the temporary folder holds.
  void clear() const;
  void commit();

 private:
  void lock();

  std::filesystem::path path_, temporary_;
  std::string kept_;
  std::unique_ptr<OutputFolder> parent_;
  int lock_ = -1;  // of a temporary folder that may be kept
};

// Removes temporary folders in `parent` that ended processes left, if their names begin with this.
void remove_abandoned_folders(const std::filesystem::path& parent, const std::string& prefix);

}  // namespace hum
