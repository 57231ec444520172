// Tells whether a file has changed while the server runs.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/error.h"

namespace hum::serve {

// Inode, size and time of change: another text whenever the file changes. "" if there is none.
inline std::string file_stamp(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "";
  return fmt::format("{} {} {}.{}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace hum::serve
