#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace hum {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    fail(errno == EACCES ? ExitCode::kNoPermission : ExitCode::kNoInput,
         fmt::format("{}: cannot read: {}", path.string(), std::strerror(errno)));
  }
  struct stat status {};
  if (fstat(file, &status) == 0) size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (data_ == MAP_FAILED) {
    fail(ExitCode::kFailure, fmt::format("{}: cannot map it into memory", path.string()));
  }
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(other.data_), size_(std::exchange(other.size_, 0)) {}

}  // namespace hum
