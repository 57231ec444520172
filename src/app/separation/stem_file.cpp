#include "app/separation/stem_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "app/play/wav_stream.h"
#include "base/error.h"
#include "base/process.h"

namespace hum::app {

namespace fs = std::filesystem;
namespace {

bool holds_integers(const fs::path& path, audio::SampleFormat samples) {
  return samples != audio::SampleFormat::kFloat && audio::extension_of(path) != ".mp3";
}

}  // namespace

// A sound file, or stdout.
class StemFile::Target {
 public:
  Target(const fs::path& path, const StemFormat& format) {
    if (is_standard_stream(path)) {
      stream_.emplace(stdout, format.rate_hz, format.channels, format.samples);
    } else {
      file_.emplace(path, format.rate_hz, format.channels, format.samples);
    }
  }
  void write(std::span<const float> samples) {
    if (stream_) stream_->write(samples);
    if (file_) file_->write(samples);
  }
  void close() {
    if (file_) file_->close();
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::optional<WavStream> stream_;
  std::optional<audio::SoundWriter> file_;
};

// Samples on disk, in a file without a name: whatever ends the process leaves nothing behind.
class StemFile::Spool {
 public:
  Spool(const fs::path& folder, int channels)
      : folder_(folder), block_(kBlockFrames * static_cast<size_t>(channels)) {
    std::string name = (folder / ".hum-stem-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor >= 0) {
      ::unlink(name.c_str());
      file_ = ::fdopen(descriptor, "w+b");
    }
    if (file_ == nullptr) refuse();
  }
  ~Spool() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  void write(std::span<const float> samples) {
    if (std::fwrite(samples.data(), sizeof(float), samples.size(), file_) != samples.size()) {
      refuse();
    }
  }
  void rewind() {
    if (std::fflush(file_) != 0) refuse();
    std::rewind(file_);
  }
  // The next samples; none at the end.
  std::span<const float> read() {
    const size_t count = std::fread(block_.data(), sizeof(float), block_.size(), file_);
    if (std::ferror(file_) != 0) refuse();
    return std::span<float>(block_).first(count);
  }

 private:
  static constexpr size_t kBlockFrames = 16384;

  [[noreturn]] void refuse() const {
    const int error = errno;
    fail(ExitCode::kCannotCreate,
         fmt::format("{}: cannot keep stems on this disk until their level is known: {}",
                     folder_.string(), std::strerror(error)),
         "free some space, or choose --clip-mode clamp, which needs none");
  }

  fs::path folder_;
  std::FILE* file_ = nullptr;
  std::vector<float> block_;
};

StemFile::StemFile(const fs::path& path, const StemFormat& format)
    : path_(path),
      format_(format),
      limits_(format.clip == ClipMode::kClamp || holds_integers(path, format.samples)),
      target_(std::make_unique<Target>(path, format)) {
  if (format.clip != ClipMode::kRescale || format.samples == audio::SampleFormat::kFloat) return;
  fs::path folder = path.parent_path();
  if (is_standard_stream(path)) folder = fs::temp_directory_path();
  spool_ = std::make_unique<Spool>(folder.empty() ? "." : folder, format.channels);
}

StemFile::~StemFile() = default;
StemFile::StemFile(StemFile&&) noexcept = default;

void StemFile::write(std::span<const float> samples) {
  for (const float sample : samples) peak_ = std::max(peak_, std::abs(sample));
  if (spool_) return spool_->write(samples);
  put(samples);
}

void StemFile::put(std::span<const float> samples) {
  std::vector<float> written(samples.begin(), samples.end());
  for (float& sample : written) {
    if (limits_) sample = std::clamp(sample, -1.0F, 1.0F);
    energy_ += static_cast<double>(sample) * sample;
  }
  samples_ += std::ssize(written);
  target_->write(written);
}

double StemFile::level_dbfs() const {
  return 10 * std::log10(energy_ / static_cast<double>(std::max<int64_t>(samples_, 1)));
}

void StemFile::finish(float gain) {
  if (spool_) write_spool(gain);
  target_->close();
}

void StemFile::write_spool(float gain) {
  spool_->rewind();
  std::vector<float> scaled;
  for (auto block = spool_->read(); !block.empty(); block = spool_->read()) {
    scaled.assign(block.begin(), block.end());
    for (float& sample : scaled) sample *= gain;
    put(scaled);
  }
}

void StemFile::commit() { target_->commit(); }

}  // namespace hum::app
