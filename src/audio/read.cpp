// The reading half of audio/io.h.
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "audio/io.h"
#include "audio/sound_file_impl.h"
#include "audio/truncation_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

// Receives interleaved samples block by block.
using Sink = std::function<void(std::span<const float>)>;

[[noreturn]] void fail_truncated(const fs::path& path) {
  fail(ExitCode::kBadData, path.string() + ": the file is truncated",
       "copy or download it again; the end is missing");
}

[[noreturn]] void fail_too_long(const fs::path& path, double seconds, double max_seconds) {
  fail(ExitCode::kBadData,
       fmt::format("{}: {:.1f} s long, the limit is {:g} s", path.string(), seconds, max_seconds),
       "raise --max-seconds, or trim the file");
}

void require_readable(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    fail(ExitCode::kNoInput, path.string() + ": no such file", "check the name of the recording");
  }
  if (!fs::is_regular_file(path, ignored)) {
    fail(ExitCode::kNoInput, path.string() + ": is not a file", "give a sound file");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    fail(ExitCode::kNoPermission, path.string() + ": cannot be read",
         "check its permissions (ls -l)");
  }
  if (fs::file_size(path) == 0) {
    fail(ExitCode::kBadData, path.string() + ": is empty", "record or copy it again");
  }
}

SoundFile open_to_read(const fs::path& path, SF_INFO& info) {
  require_readable(path);
  if (is_truncated(path)) fail_truncated(path);
  SoundFile file = open_sound_file(path, SFM_READ, info);
  if (file == nullptr || info.channels < 1 || info.samplerate < 1) {
    const char* reason = file == nullptr ? sf_strerror(nullptr) : "it has no channels or no rate";
    fail(ExitCode::kBadData,
         fmt::format("{}: not a sound file that hum reads: {}", path.string(), reason),
         "hum reads wav, flac, ogg and mp3; convert others first: ffmpeg -i FILE out.wav");
  }
  return file;
}

// Passes all samples to `sink` after checking them.
void read_blocks(const fs::path& path, SNDFILE* file, const SF_INFO& info, double max_seconds,
                 const Sink& sink) {
  // Streams leave the length open (SF_COUNT_MAX).
  const bool is_length_known = info.frames > 0 && info.frames < (sf_count_t{1} << 48);
  const double max_frames = max_seconds * info.samplerate;
  const auto seconds = [&](sf_count_t frames) {
    return static_cast<double>(frames) / info.samplerate;
  };
  if (is_length_known && static_cast<double>(info.frames) > max_frames) {
    fail_too_long(path, seconds(info.frames), max_seconds);
  }
  std::vector<float> block(static_cast<size_t>(kBlockFrames) * static_cast<size_t>(info.channels));
  sf_count_t frames = 0;
  size_t bad_samples = 0, samples = 0;
  while (const sf_count_t read = sf_readf_float(file, block.data(), kBlockFrames)) {
    frames += read;
    if (static_cast<double>(frames) > max_frames) fail_too_long(path, seconds(frames), max_seconds);
    const std::span<const float> part(
        block.data(), static_cast<size_t>(read) * static_cast<size_t>(info.channels));
    samples += part.size();
    for (const float sample : part) bad_samples += std::isfinite(sample) ? 0 : 1;
    sink(part);
  }
  if (sf_error(file) != SF_ERR_NO_ERROR || (is_length_known && frames < info.frames)) {
    fail_truncated(path);
  }
  if (frames == 0) fail(ExitCode::kBadData, path.string() + ": holds no sound", "record it again");
  if (bad_samples > 0) {
    fail(ExitCode::kBadData,
         fmt::format("{}: {} of {} samples are not finite (NaN or infinity)", path.string(),
                     bad_samples, samples),
         "export the file again; the program that wrote it has a bug");
  }
}

}  // namespace

AudioBuffer read_audio(const fs::path& path, double max_seconds) {
  SF_INFO info{};
  const SoundFile file = open_to_read(path, info);
  AudioBuffer buffer{info.samplerate, info.channels, {}};
  read_blocks(path, file.get(), info, max_seconds, [&](std::span<const float> block) {
    buffer.samples.insert(buffer.samples.end(), block.begin(), block.end());
  });
  return buffer;
}

AudioBuffer read_mono(const fs::path& path, double max_seconds, SourceFormat* source) {
  SF_INFO info{};
  const SoundFile file = open_to_read(path, info);
  AudioBuffer mono{info.samplerate, 1, {}};
  double clipped_frames = 0;
  read_blocks(path, file.get(), info, max_seconds, [&](std::span<const float> block) {
    const AudioBuffer part{info.samplerate, info.channels, {block.begin(), block.end()}};
    const AudioBuffer mixed = to_mono(part);
    mono.samples.insert(mono.samples.end(), mixed.samples.begin(), mixed.samples.end());
    if (source != nullptr) {
      clipped_frames += clipped_fraction(part) * static_cast<double>(part.frames());
    }
  });
  if (source != nullptr) {
    *source = {info.samplerate, info.channels, clipped_frames / static_cast<double>(mono.frames())};
  }
  return mono;
}

}  // namespace hum::audio
