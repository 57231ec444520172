#include "audio/flac.h"

#include "audio/byte_reader_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr const char* kCure = "`hum data verify` names the damaged shards";
// Of libFLAC's 0 to 8, as a share of 8.
constexpr double kCompression = 0;

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
  const SoundFile sound = open_sound_bytes(reader, info);
  if (sound == nullptr) fail(ExitCode::kBadData, "not a FLAC file", kCure);
  if (info.channels != channels) {
    fail(ExitCode::kBadData,
         fmt::format("a FLAC file of {} channels, not {}", info.channels, channels), kCure);
  }
  const sf_count_t frames = std::ssize(interleaved) / channels;
  if (sf_seek(sound.get(), first_frame, SEEK_SET) != first_frame ||
      sf_readf_float(sound.get(), interleaved.data(), frames) != frames) {
    fail(ExitCode::kBadData,
         fmt::format("a damaged FLAC file, or one that ends before frame {}", first_frame + frames),
         kCure);
  }
}

}  // namespace hum::audio
