// The writing half of audio/io.h.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "audio/io.h"
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

[[noreturn]] void fail_to_write(const fs::path& path, int error_number, SNDFILE* file) {
  const char* reason = error_number != 0 ? std::strerror(error_number) : sf_strerror(file);
  fail(ExitCode::kCannotCreate, fmt::format("{}: cannot write: {}", path.string(), reason),
       error_number == ENOSPC || error_number == EFBIG || error_number == EDQUOT
           ? "free some disk space and run the command again"
           : "");
}

void write_blocks(const fs::path& path, SNDFILE* file, const AudioBuffer& buffer) {
  const auto channels = static_cast<sf_count_t>(buffer.channels);
  for (sf_count_t done = 0; done < buffer.frames(); done += kBlockFrames) {
    const sf_count_t count = std::min<sf_count_t>(kBlockFrames, buffer.frames() - done);
    errno = 0;
    if (sf_writef_float(file, buffer.samples.data() + done * channels, count) != count ||
        sf_error(file) != SF_ERR_NO_ERROR) {
      fail_to_write(path, errno, file);
    }
  }
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

void write_audio(const fs::path& path, const AudioBuffer& buffer, SampleFormat format) {
  HUM_REQUIRE(buffer.rate_hz > 0 && buffer.channels > 0, "write_audio: {} channels at {} Hz",
              buffer.channels, buffer.rate_hz);
  HUM_REQUIRE(buffer.samples.size() % static_cast<size_t>(buffer.channels) == 0,
              "write_audio: {} samples do not fill {} channels", buffer.samples.size(),
              buffer.channels);
  SF_INFO info{};
  info.samplerate = buffer.rate_hz;
  info.channels = buffer.channels;
  const int container = container_of(path);
  info.format = container | encoding_of(path, container, format);
  if (sf_format_check(&info) == 0) {
    fail(ExitCode::kUsage,
         fmt::format("{}: this format cannot hold {} channels at {} Hz", path.string(),
                     buffer.channels, buffer.rate_hz),
         "write a .wav");
  }

  AtomicFile target(path);
  errno = 0;
  SoundFile file = open_sound_file(target.temporary_path(), SFM_WRITE, info);
  if (file == nullptr) fail_to_write(path, errno, nullptr);
  sf_command(file.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  // The peak chunk holds a timestamp, but equal sound must give equal bytes.
  sf_command(file.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);
  if (container == SF_FORMAT_MPEG) set_mp3_quality(file.get());
  write_blocks(path, file.get(), buffer);
  errno = 0;
  const int error = sf_close(file.release());
  const int close_errno = errno;
  if (error != SF_ERR_NO_ERROR || frames_of(target.temporary_path()) != buffer.frames()) {
    fail_to_write(path, close_errno, nullptr);
  }
  target.commit();
}

}  // namespace hum::audio
