// A file as memory: its pages come from the disk when they are first touched.
#pragma once

#include <filesystem>
#include <string_view>

namespace hum {

// Read-only. The bytes stay as they are when another file is renamed over the path.
class MappedFile {
 public:
  // Throws: kNoInput when it is missing, kNoPermission when unreadable.
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
