#include "audio/lossy.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "audio/resample.h"
#include "audio/sound_file_impl.h"
#include "base/error.h"

namespace hum::audio {
namespace {

constexpr int kOpusRate_hz = 24000;
// Samples by which an MP3 comes back late, if it does not say so itself: 576 of the encoder and 529
// of the decoder.
constexpr int64_t kMp3Delay = 576 + 529;

// A file in memory, with the functions that libsndfile calls.
struct MemoryFile {
  std::vector<char> bytes;
  sf_count_t at = 0;
};
MemoryFile& file_of(void* user) { return *static_cast<MemoryFile*>(user); }

sf_count_t size_of(void* user) { return std::ssize(file_of(user).bytes); }
sf_count_t tell(void* user) { return file_of(user).at; }
sf_count_t seek(sf_count_t offset, int whence, void* user) {
  MemoryFile& file = file_of(user);
  file.at = offset + (whence == SEEK_CUR ? file.at : whence == SEEK_END ? size_of(user) : 0);
  return file.at;
}
sf_count_t read(void* to, sf_count_t count, void* user) {
  MemoryFile& file = file_of(user);
  count = std::clamp<sf_count_t>(size_of(user) - file.at, 0, count);
  if (count > 0) std::memcpy(to, file.bytes.data() + file.at, static_cast<size_t>(count));
  file.at += count;
  return count;
}
sf_count_t write(const void* from, sf_count_t count, void* user) {
  MemoryFile& file = file_of(user);
  const auto end = static_cast<size_t>(file.at + count);
  if (end > file.bytes.size()) file.bytes.resize(end);
  std::memcpy(file.bytes.data() + file.at, from, static_cast<size_t>(count));
  file.at += count;
  return count;
}

SoundFile open_in_memory(MemoryFile& memory, int mode, SF_INFO& info) {
  SF_VIRTUAL_IO io{size_of, seek, read, write, tell};
  SoundFile file(sf_open_virtual(&io, mode, &info, &memory));
  HUM_CHECK(file != nullptr, "sf_open_virtual: {}", sf_strerror(nullptr));
  return file;
}

// libsndfile names a bit rate by a level from 0 (most) to 1 (least). Source: bit rates in
// ogg_opus.c and mpeg_l3_encode.c of libsndfile 1.2.
double level_of(Lossy codec, double kbps) {
  const double level =
      codec == Lossy::kOpus ? 1 - (kbps - 6) / 250 : (160 - kbps) / (160 - 8) - 1e-6;
  return std::clamp(level, 0.0, 1.0);
}

MemoryFile encoded(std::span<const float> samples, int rate_hz, Lossy codec, double kbps) {
  SF_INFO info{};
  info.samplerate = rate_hz;
  info.channels = 1;
  info.format = codec == Lossy::kOpus ? SF_FORMAT_OGG | SF_FORMAT_OPUS
                                      : SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
  MemoryFile memory;
  SoundFile file = open_in_memory(memory, SFM_WRITE, info);
  double level = level_of(codec, kbps);
  if (codec == Lossy::kMp3) {
    // libsndfile 1.2 returns SF_FALSE although it sets the mode.
    int mode = SF_BITRATE_MODE_CONSTANT;
    sf_command(file.get(), SFC_SET_BITRATE_MODE, &mode, sizeof mode);
    HUM_CHECK(sf_command(file.get(), SFC_GET_BITRATE_MODE, nullptr, 0) == SF_BITRATE_MODE_CONSTANT);
  }
  HUM_CHECK(sf_command(file.get(), SFC_SET_COMPRESSION_LEVEL, &level, sizeof level) == SF_TRUE);
  const auto count = static_cast<sf_count_t>(samples.size());
  HUM_CHECK(sf_writef_float(file.get(), samples.data(), count) == count, "{}",
            sf_strerror(file.get()));
  HUM_CHECK(sf_close(file.release()) == SF_ERR_NO_ERROR);
  return memory;
}

// All samples that the decoder gives.
std::vector<float> decoded(MemoryFile& memory) {
  memory.at = 0;
  SF_INFO info{};
  const SoundFile file = open_in_memory(memory, SFM_READ, info);
  std::vector<float> samples;
  std::vector<float> block(static_cast<size_t>(kBlockFrames));
  while (const sf_count_t count = sf_readf_float(file.get(), block.data(), kBlockFrames)) {
    samples.insert(samples.end(), block.begin(), block.begin() + count);
  }
  return samples;
}

}  // namespace

std::vector<float> through_codec(std::span<const float> samples, int rate_hz, Lossy codec,
                                 double kbps) {
  if (samples.empty()) return {};
  if (codec == Lossy::kOpus && rate_hz != kOpusRate_hz) {
    const auto there = resample(samples, rate_hz, kOpusRate_hz);
    auto back = resample(through_codec(there, kOpusRate_hz, codec, kbps), kOpusRate_hz, rate_hz);
    back.resize(samples.size());
    return back;
  }
  HUM_REQUIRE(codec == Lossy::kOpus || rate_hz == 16000 || rate_hz == 22050 || rate_hz == 24000,
              "through_codec: MP3 at {} Hz", rate_hz);
  MemoryFile memory = encoded(samples, rate_hz, codec, kbps);
  auto result = decoded(memory);
  // The first frame of an MP3 says how long and how late the sound is. Below about 56 kbit/s frames
  // have no room for that; the decoder then gives whole ones.
  if (codec == Lossy::kMp3 && result.size() != samples.size()) {
    result.erase(result.begin(), result.begin() + std::min(std::ssize(result), kMp3Delay));
  }
  result.resize(samples.size());
  return result;
}

}  // namespace hum::audio
