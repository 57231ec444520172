// A temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hum {

// Creates a new folder among the system's temporary files, and removes it with all files in it when
// the object is destroyed.
class ScratchFolder {
 public:
  // Throws: kFailure if it cannot be created.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hum
