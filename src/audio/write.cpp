// The writing half of audio/io.h.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "audio/io.h"
#include "audio/sound_blocks.h"
#include "audio/sound_file_impl.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

int container_of(const fs::path& path) {
  const std::string extension = extension_of(path);
  if (extension == ".wav") return SF_FORMAT_WAV;
  if (extension == ".flac") return SF_FORMAT_FLAC;
  if (extension == ".ogg") return SF_FORMAT_OGG;
  if (extension == ".mp3") return SF_FORMAT_MPEG;
  fail(ExitCode::kUsage, fmt::format("{}: cannot write '{}' files", path.string(), extension),
       "name it .wav, .flac, .ogg or .mp3");
}

int encoding_of(const fs::path& path, int container, SampleFormat format) {
  if (container == SF_FORMAT_OGG || container == SF_FORMAT_MPEG) {
    if (format != SampleFormat::k16) {
      warn_once("lossy bits",
                path.string() + ": ogg and mp3 have no sample format; --bits is ignored");
    }
    return container == SF_FORMAT_OGG ? SF_FORMAT_VORBIS : SF_FORMAT_MPEG_LAYER_III;
  }
  if (format == SampleFormat::k16) return SF_FORMAT_PCM_16;
  if (format == SampleFormat::k24) return SF_FORMAT_PCM_24;
  if (container == SF_FORMAT_FLAC) {
    fail(ExitCode::kUsage, path.string() + ": flac cannot store float samples",
         "use --bits 24, or write a .wav");
  }
  return SF_FORMAT_FLOAT;
}

// Rates of MPEG 1, 2 and 2.5. sf_format_check does not know them.
constexpr int kMpegRates_hz[] = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000};

SF_INFO checked_format(const fs::path& path, int rate_hz, int channels, SampleFormat format) {
  SF_INFO info{};
  info.samplerate = rate_hz;
  info.channels = channels;
  const int container = container_of(path);
  info.format = container | encoding_of(path, container, format);
  const bool has_rate = container != SF_FORMAT_MPEG ||
                        std::ranges::find(kMpegRates_hz, rate_hz) != std::end(kMpegRates_hz);
  if (sf_format_check(&info) == 0 || !has_rate) {
    fail(ExitCode::kUsage,
         fmt::format("{}: this format cannot hold {} channels at {} Hz", path.string(), channels,
                     rate_hz),
         "write a .wav");
  }
  return info;
}

bool is_full_disk(int error_number) {
  return error_number == ENOSPC || error_number == EFBIG || error_number == EDQUOT;
}

[[noreturn]] void fail_to_write(const fs::path& path, int error_number, SNDFILE* file) {
  const char* reason = error_number != 0 ? std::strerror(error_number) : sf_strerror(file);
  fail(ExitCode::kCannotCreate, fmt::format("{}: cannot write: {}", path.string(), reason),
       is_full_disk(error_number) ? "free some disk space and run the command again" : "");
}

// A constant quality, hard to distinguish from the original: LAME's V2, about 190 kbit/s in stereo.
void set_mp3_quality(SNDFILE* file) {
  double level = 0.2;  // of the default variable bit rate: 0 is best, 1 smallest
  HUM_CHECK(sf_command(file, SFC_SET_COMPRESSION_LEVEL, &level, sizeof level) == SF_TRUE);
}

// Frames that can be read back: libsndfile does not report every failed write of its last buffer.
int64_t frames_of(const fs::path& path) {
  SF_INFO info{};
  const SoundFile file = open_sound_file(path, SFM_READ, info);
  return file == nullptr ? -1 : info.frames;
}

}  // namespace

std::string extension_of(const fs::path& path) { return lower_case(path.extension().string()); }

void require_format(const fs::path& path, int rate_hz, int channels, SampleFormat format) {
  checked_format(path, rate_hz, channels, format);
}

void require_length(const fs::path& path, int channels, SampleFormat format,
                    std::optional<int64_t> frames) {
  // Its header counts bytes in 32 bits, those of the header among them.
  constexpr int64_t kMostBytes = (int64_t{1} << 32) - 4096;
  if (!frames || extension_of(path) != ".wav") return;
  const int64_t bytes = format == SampleFormat::k16 ? 2 : format == SampleFormat::k24 ? 3 : 4;
  if (*frames <= kMostBytes / (bytes * channels)) return;
  fail(ExitCode::kUsage, fmt::format("{}: a wav file ends at 4 GiB", path.string()),
       "write flac, which has no such limit");
}

struct SoundWriter::State {
  State(const fs::path& path, int channels, SampleFormat format)
      : path(path), channels(channels), format(format), target(path) {}

  fs::path path;
  int channels;
  SampleFormat format;
  int64_t frames = 0;
  AtomicFile target;
  SoundFile file;
};

SoundWriter::SoundWriter(const fs::path& path, int rate_hz, int channels, SampleFormat format) {
  HUM_REQUIRE(rate_hz > 0 && channels > 0, "SoundWriter: {} channels at {} Hz", channels, rate_hz);
  SF_INFO info = checked_format(path, rate_hz, channels, format);
  state_ = std::make_unique<State>(path, channels, format);
  errno = 0;
  state_->file = open_sound_file(state_->target.temporary_path(), SFM_WRITE, info);
  SNDFILE* file = state_->file.get();
  if (file == nullptr) fail_to_write(path, errno, nullptr);
  sf_command(file, SFC_SET_CLIPPING, nullptr, SF_TRUE);
  // The peak chunk holds a timestamp, but equal sound must give equal bytes.
  sf_command(file, SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);
  if (container_of(path) == SF_FORMAT_MPEG) set_mp3_quality(file);
}

SoundWriter::~SoundWriter() = default;

void SoundWriter::write(std::span<const float> samples) {
  const auto channels = static_cast<size_t>(state_->channels);
  HUM_REQUIRE(samples.size() % channels == 0, "SoundWriter: {} samples do not fill {} channels",
              samples.size(), channels);
  SNDFILE* file = state_->file.get();
  while (!samples.empty()) {
    const auto part = samples.first(std::min(samples.size(), kBlockFrames * channels));
    const auto count = static_cast<sf_count_t>(part.size() / channels);
    require_length(state_->path, state_->channels, state_->format, state_->frames + count);
    errno = 0;
    if (sf_writef_float(file, part.data(), count) != count || sf_error(file) != SF_ERR_NO_ERROR) {
      fail_to_write(state_->path, errno, file);
    }
    state_->frames += count;
    samples = samples.subspan(part.size());
  }
}

void SoundWriter::close() {
  errno = 0;
  const int error = sf_close(state_->file.release());
  const int close_errno = errno;
  // The header of an mp3 file counts frames that could not be written, too.
  if (error != SF_ERR_NO_ERROR || is_full_disk(close_errno) ||
      frames_of(state_->target.temporary_path()) != state_->frames) {
    fail_to_write(state_->path, close_errno, nullptr);
  }
  const int fault = flush_to_disk(state_->target.temporary_path());
  if (fault != 0) fail_to_write(state_->path, fault, nullptr);
}

void SoundWriter::commit() {
  if (state_->file != nullptr) close();
  state_->target.commit();
}

void write_audio(const fs::path& path, const AudioBuffer& buffer, SampleFormat format) {
  SoundWriter writer(path, buffer.rate_hz, buffer.channels, format);
  writer.write(buffer.samples);
  writer.commit();
}

}  // namespace hum::audio
