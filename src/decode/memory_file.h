// Files that exist only in memory (memfd) and can be sealed against changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/open_file.h"

namespace hum::decode {

// Maps a whole file into memory, read-only.
class FileView {
 public:
  // Throws kTemporary if it cannot be mapped.
  explicit FileView(int descriptor);
  // For a process that may not ask for the size.
  FileView(int descriptor, int64_t bytes);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }
  // Gives back the memory of what was read; reading it again takes it from the file.
  void forget() const;

 private:
  void map(int descriptor);

  void* data_ = nullptr;
  size_t size_ = 0;
};

// An empty file in memory. Throws kTemporary.
OpenFile new_memory_file();
// A sealed copy of a regular file: nobody can change it, not even who owns it. Throws: kNoInput if
// there is none, kNoPermission if it is unreadable, kTemporary if memory is short.
OpenFile sealed_copy(const std::filesystem::path& path, const std::string& name);
// No change from now on. Throws kTemporary if it is still mapped for writing.
void seal(const OpenFile& file);

}  // namespace hum::decode
