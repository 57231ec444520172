#include "audio/flac.h"

#include <algorithm>
#include <vector>

#include "audio/byte_reader_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr const char* kCure = "`hum data verify` names the damaged shards";
// Of libFLAC's 0 to 8, as a share of 8.
constexpr double kCompression = 0;
constexpr int64_t kSkippedFrames = 16384;  // decoded at once to get past them

// A file that libsndfile writes into memory; it goes back to fill in the header.
struct ByteWriter {
  std::string bytes;
  sf_count_t position = 0;
};
ByteWriter& writer_of(void* handle) { return *static_cast<ByteWriter*>(handle); }

sf_count_t write_bytes(const void* from, sf_count_t count, void* handle) {
  ByteWriter& writer = writer_of(handle);
  const auto end = static_cast<size_t>(writer.position + count);
  if (end > writer.bytes.size()) writer.bytes.resize(end);
  std::memcpy(writer.bytes.data() + writer.position, from, static_cast<size_t>(count));
  writer.position += count;
  return count;
}

sf_count_t read_bytes(void* to, sf_count_t count, void* handle) {
  ByteWriter& writer = writer_of(handle);
  ByteReader reader(writer.bytes);
  reader.seek(writer.position, SEEK_SET);
  const sf_count_t got = reader.read(to, count);
  writer.position += got;
  return got;
}

sf_count_t seek_bytes(sf_count_t offset, int whence, void* handle) {
  ByteWriter& writer = writer_of(handle);
  ByteReader reader(writer.bytes);
  reader.seek(writer.position, SEEK_SET);
  return writer.position = reader.seek(offset, whence);
}

SoundFile open_to_write(ByteWriter& writer, SF_INFO& info) {
  SF_VIRTUAL_IO calls{
      .get_filelen = [](void* handle) -> sf_count_t {
        return static_cast<sf_count_t>(writer_of(handle).bytes.size());
      },
      .seek = seek_bytes,
      .read = read_bytes,
      .write = write_bytes,
      .tell = [](void* handle) -> sf_count_t { return writer_of(handle).position; }};
  return SoundFile(sf_open_virtual(&calls, SFM_WRITE, &info, &writer));
}

SoundFile open_flac(ByteReader& reader, int channels, SF_INFO& info) {
  SoundFile sound = open_sound_bytes(reader, info);
  if (sound == nullptr) fail(ExitCode::kBadData, "not a FLAC file", kCure);
  if (info.channels != channels) {
    fail(ExitCode::kBadData,
         fmt::format("a FLAC file of {} channels, not {}", info.channels, channels), kCure);
  }
  return sound;
}

// Decodes all frames before `first_frame`. libFLAC cannot seek to a place whose sound has the bytes
// of a frame's header, and cannot go on after that.
bool reopen_at(int64_t first_frame, int channels, ByteReader& reader, SoundFile& sound) {
  sound.reset();
  reader.seek(0, SEEK_SET);
  SF_INFO info{};
  sound = open_flac(reader, channels, info);
  std::vector<float> skipped(static_cast<size_t>(kSkippedFrames * channels));
  for (int64_t left = first_frame; left > 0;) {
    const sf_count_t wanted = std::min(left, kSkippedFrames);
    if (sf_readf_float(sound.get(), skipped.data(), wanted) != wanted) return false;
    left -= wanted;
  }
  return true;
}

}  // namespace

std::string flac_file(std::span<const int16_t> samples, int rate_hz, int channels) {
  ByteWriter writer;
  SF_INFO info{};
  info.samplerate = rate_hz;
  info.channels = channels;
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  SoundFile file = open_to_write(writer, info);
  HUM_CHECK(file != nullptr, "libsndfile: {}", sf_strerror(nullptr));
  double level = kCompression;
  sf_command(file.get(), SFC_SET_COMPRESSION_LEVEL, &level, sizeof level);
  const sf_count_t frames = std::ssize(samples) / channels;
  HUM_CHECK(sf_writef_short(file.get(), samples.data(), frames) == frames, "libsndfile: {}",
            sf_strerror(file.get()));
  HUM_CHECK(sf_close(file.release()) == SF_ERR_NO_ERROR, "libsndfile: cannot end a FLAC file");
  return std::move(writer.bytes);
}

void read_flac(std::string_view file, int64_t first_frame, int channels,
               std::span<float> interleaved) {
  ByteReader reader(file);
  SF_INFO info{};
  SoundFile sound = open_flac(reader, channels, info);
  const sf_count_t frames = std::ssize(interleaved) / channels, end = first_frame + frames;
  const bool is_there =
      end <= info.frames && (sf_seek(sound.get(), first_frame, SEEK_SET) == first_frame ||
                             reopen_at(first_frame, channels, reader, sound));
  if (!is_there || sf_readf_float(sound.get(), interleaved.data(), frames) != frames) {
    fail(ExitCode::kBadData,
         fmt::format("a damaged FLAC file, or one that ends before frame {}", end), kCure);
  }
}

}  // namespace hum::audio
