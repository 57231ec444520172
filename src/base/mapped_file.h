// Maps a file into memory. Pages are read from disk when they are first accessed.
#pragma once

#include <filesystem>
#include <string_view>

namespace hum {

// Read-only. The contents do not change if another file is renamed over the path.
class MappedFile {
 public:
  // Throws: kNoInput if it is missing, kNoPermission if unreadable.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace hum
