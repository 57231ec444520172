#include "app/separation/stem_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
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

StemFile::StemFile(const fs::path& path, const StemFormat& format)
    : path_(path),
      format_(format),
      limits_(format.clip == ClipMode::kClamp || holds_integers(path, format.samples)),
      target_(std::make_unique<Target>(path, format)) {
  if (!can_rescale()) return;
  spool_ = std::make_unique<SampleSpool>(
      path, format.channels,
      "free some space, or choose --clip-mode clamp, which needs half of it");
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

void StemFile::finish(float gain, const std::function<void(int64_t samples)>& progress) {
  if (spool_) write_spool(gain, progress);
  spool_.reset();
  target_->close();
}

void StemFile::write_spool(float gain, const std::function<void(int64_t samples)>& progress) {
  spool_->rewind();
  std::vector<float> scaled;
  for (auto block = spool_->read(); !block.empty(); block = spool_->read()) {
    scaled.assign(block.begin(), block.end());
    for (float& sample : scaled) sample *= gain;
    put(scaled);
    if (progress) progress(samples_);
  }
}

void StemFile::commit() { target_->commit(); }

}  // namespace hum::app
