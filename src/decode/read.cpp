#include "decode/read.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/process.h"
#include "decode/confined.h"
#include "decode/container.h"

namespace hum::decode {
namespace fs = std::filesystem;
namespace {

bool is_in_container(const fs::path& path) {
  std::error_code ignored;
  if (is_standard_stream(path) || !fs::is_regular_file(path, ignored)) return false;
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return container_in(file) != Container::kNone;
}

// JSON, in which the confined program reads its limits, has no infinity.
constexpr double kForever_s = 1e7;

}  // namespace

ReadableFile::ReadableFile(fs::path file, double max_seconds, bool mono) : path_(std::move(file)) {
  if (!is_in_container(path_)) return;
  copy_ = std::make_unique<ScratchFolder>();
  const fs::path wav = copy_->path() / "copy.wav";
  source_ = decode_confined(path_, wav,
                            {.mono = mono,
                             .max_seconds = std::min(max_seconds, kForever_s),
                             .min_seconds = 0,
                             .name = path_.string(),
                             .length_hint = "raise --max-seconds, or trim the file"})
                .source;
  path_ = wav;
}

audio::AudioBuffer read_mono(const fs::path& file, double max_seconds,
                             audio::SourceFormat* source) {
  const ReadableFile readable(file, max_seconds, /*mono=*/true);
  const bool is_copy = readable.source().has_value();
  if (is_copy && source != nullptr) *source = *readable.source();
  return audio::read_mono(readable.path(), max_seconds, is_copy ? nullptr : source);
}

audio::AudioBuffer read_audio(const fs::path& file, double max_seconds) {
  return audio::read_audio(ReadableFile(file, max_seconds).path(), max_seconds);
}

pipeline::Recording read_recording(const fs::path& file, double max_seconds) {
  audio::SourceFormat source;
  audio::AudioBuffer mono = decode::read_mono(file, max_seconds, &source);
  return pipeline::checked_recording(std::move(mono), source, audio::name_of(file));
}

}  // namespace hum::decode
