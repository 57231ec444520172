// A file descriptor with an owner, and new files under names of their own.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace hum {

// Closes the file descriptor that it owns.
class OpenFile {
 public:
  explicit OpenFile(int descriptor = -1) : descriptor_(descriptor) {}
  ~OpenFile() {
    if (is_open()) ::close(descriptor_);
  }
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  // Gives the descriptor away.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

struct NewFile {
  OpenFile file;  // for reading and writing; programs that are started do not get it
  std::filesystem::path path;
};
// An empty file in the folder, whose name begins with `prefix` and is nobody else's. Not open, with
// errno, if it cannot be made.
NewFile create_unique(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace hum
