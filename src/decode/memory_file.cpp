#include "decode/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace hum::decode {
namespace {

[[noreturn]] void fail_memory(const char* what) {
  fail(ExitCode::kTemporary, fmt::format("decoding: {}: {}", what, std::strerror(errno)),
       "the machine lacks memory; try again later");
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_memory("cannot write a file in memory");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

OpenFile open_regular(const std::filesystem::path& path, const std::string& name) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() && errno == EACCES) {
    fail(ExitCode::kNoPermission, name + " cannot be read",
         "check the permissions of the data folder");
  }
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(ExitCode::kNoInput, name + " is no file, or gone", "upload it again");
  }
  return file;
}

}  // namespace

FileView::FileView(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail_memory("cannot read a file in memory");
  size_ = static_cast<size_t>(status.st_size);
  map(descriptor);
}

FileView::FileView(int descriptor, int64_t bytes) : size_(static_cast<size_t>(bytes)) {
  map(descriptor);
}

void FileView::map(int descriptor) {
  if (size_ == 0) return;
  // Private: kernels before 6.7 refuse to share a sealed file.
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data_ == MAP_FAILED) fail_memory("cannot map a file");
}

FileView::~FileView() {
  if (size_ > 0) ::munmap(data_, size_);
}

void FileView::forget() const {
  if (size_ > 0) ::madvise(data_, size_, MADV_DONTNEED);  // only advice: a failure changes nothing
}

OpenFile new_memory_file() {
  OpenFile file(::memfd_create("hum-decode", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) fail_memory("cannot create a file in memory");
  return file;
}

OpenFile sealed_copy(const std::filesystem::path& path, const std::string& name) {
  const OpenFile from = open_regular(path, name);
  OpenFile copy = new_memory_file();
  std::vector<char> block(size_t{1} << 20);
  while (true) {
    const ssize_t read = ::read(from.descriptor(), block.data(), block.size());
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) {
      fail(ExitCode::kNoInput, name + " cannot be read: " + std::strerror(errno));
    }
    if (read == 0) break;
    write_all(copy.descriptor(), {block.data(), static_cast<size_t>(read)});
  }
  seal(copy);
  return copy;
}

void seal(const OpenFile& file) {
  const int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(file.descriptor(), F_ADD_SEALS, seals) != 0) fail_memory("cannot seal a file");
}

}  // namespace hum::decode
