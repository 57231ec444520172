#include "app/separation/sample_spool.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/open_file.h"
#include "base/process.h"

namespace hum::app {

namespace fs = std::filesystem;
namespace {

constexpr size_t kBlockFrames = 16384;

fs::path folder_for(const fs::path& output) {
  if (is_standard_stream(output)) {
    std::error_code fault;
    const fs::path folder = fs::temp_directory_path(fault);
    if (!fault) return folder;
    fail(ExitCode::kCannotCreate, "no folder for temporary files: " + fault.message(),
         "set TMPDIR to a folder");
  }
  const fs::path folder = output.parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

SampleSpool::SampleSpool(const fs::path& output, int channels, std::string hint)
    : folder_(folder_for(output)),
      hint_(std::move(hint)),
      block_(kBlockFrames * static_cast<size_t>(channels)) {
  NewFile made = create_unique(folder_, ".hum-stem-");
  if (!made.file.is_open()) refuse();
  ::unlink(made.path.c_str());
  file_ = ::fdopen(made.file.descriptor(), "w+b");
  if (file_ == nullptr) refuse();
  made.file.release();
}

SampleSpool::~SampleSpool() {
  if (file_ != nullptr) std::fclose(file_);
}

void SampleSpool::write(std::span<const float> samples) {
  if (samples.empty()) return;
  if (std::fwrite(samples.data(), sizeof(float), samples.size(), file_) != samples.size()) refuse();
}

void SampleSpool::rewind() {
  if (std::fflush(file_) != 0) refuse();
  std::rewind(file_);
}

std::span<float> SampleSpool::read() {
  const size_t count = std::fread(block_.data(), sizeof(float), block_.size(), file_);
  if (std::ferror(file_) != 0) refuse();
  return std::span<float>(block_).first(count);
}

void SampleSpool::refuse() const {
  const int error = errno;
  fail(ExitCode::kCannotCreate,
       fmt::format("{}: cannot keep samples on this disk: {}", folder_.string(),
                   std::strerror(error)),
       hint_);
}

}  // namespace hum::app
