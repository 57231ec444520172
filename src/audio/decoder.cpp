#include <mpg123.h>

#include <array>
#include <cstring>
#include <fstream>

#include "audio/decoder_impl.h"
#include "audio/io.h"
#include "audio/sound_file_impl.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

class SndfileDecoder : public Decoder {
 public:
  SndfileDecoder(SoundFile file, const SF_INFO& info) : file_(std::move(file)) {
    rate_hz = info.samplerate;
    channels = info.channels;
    // Streams leave the length open (SF_COUNT_MAX).
    if (info.frames > 0 && info.frames < (sf_count_t{1} << 48)) frames = info.frames;
  }
  int64_t read(std::span<float> interleaved) override {
    return sf_readf_float(file_.get(), interleaved.data(), std::ssize(interleaved) / channels);
  }
  bool has_failed() const override { return sf_error(file_.get()) != SF_ERR_NO_ERROR; }

 private:
  SoundFile file_;
};

struct DeleteMp3 {
  void operator()(mpg123_handle* handle) const { mpg123_delete(handle); }
};
using Mp3Handle = std::unique_ptr<mpg123_handle, DeleteMp3>;

// libsndfile reads mp3 files with the same library and flags, but lets it print what it dislikes to
// stderr, and its message for a damaged file is that the file does not exist.
class Mp3Decoder : public Decoder {
 public:
  // Null if it finds no sound.
  static std::unique_ptr<Decoder> open(const fs::path& path) {
    static const int ready = mpg123_init();
    Mp3Handle handle(ready == MPG123_OK ? mpg123_new(nullptr, nullptr) : nullptr);
    if (handle == nullptr) return nullptr;
    mpg123_param(handle.get(), MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0);
    mpg123_param(handle.get(), MPG123_ADD_FLAGS, MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS,
                 0);
    long rate = 0;
    int count = 0, encoding = 0;
    if (mpg123_open_fixed(handle.get(), path.c_str(), MPG123_MONO | MPG123_STEREO,
                          MPG123_ENC_FLOAT_32) != MPG123_OK ||
        mpg123_getformat(handle.get(), &rate, &count, &encoding) != MPG123_OK ||
        encoding != MPG123_ENC_FLOAT_32 || rate < 1 || count < 1) {
      return nullptr;
    }
    auto decoder = std::make_unique<Mp3Decoder>(std::move(handle));
    decoder->rate_hz = static_cast<int>(rate);
    decoder->channels = count;
    if (decoder->states_its_length()) decoder->frames = mpg123_length(decoder->handle_.get());
    return decoder;
  }
  explicit Mp3Decoder(Mp3Handle handle) : handle_(std::move(handle)) {}

  int64_t read(std::span<float> interleaved) override {
    size_t done = 0;
    int state = MPG123_NEW_FORMAT;
    while (state == MPG123_NEW_FORMAT && done == 0) {
      state = mpg123_read(handle_.get(), interleaved.data(), interleaved.size_bytes(), &done);
    }
    const bool is_well = state == MPG123_OK || state == MPG123_DONE || state == MPG123_NEW_FORMAT;
    has_failed_ = has_failed_ || !is_well;
    return static_cast<int64_t>(done / sizeof(float)) / channels;
  }
  bool has_failed() const override { return has_failed_; }

 private:
  // Whether the first frame says how long the sound is. Otherwise the length is an estimate.
  bool states_its_length() const {
    mpg123_frameinfo2 info{};
    if (mpg123_info2(handle_.get(), &info) == MPG123_OK && info.vbr != MPG123_CBR) return true;
    long delay = -1;
    return mpg123_getstate2(handle_.get(), MPG123_ENC_DELAY, &delay, nullptr) == MPG123_OK &&
           delay >= 0;
  }

  Mp3Handle handle_;
  bool has_failed_ = false;
};

// The size of an ID3 tag at the start, which any format may have; 0: none.
int64_t tag_bytes(const std::array<char, 10>& head) {
  if (std::memcmp(head.data(), "ID3", 3) != 0) return 0;
  int64_t size = 0;
  for (size_t i = 6; i < 10; ++i) size = size << 7 | (static_cast<uint8_t>(head[i]) & 0x7f);
  return size + 10;
}

// Whether libsndfile would take the file for an mp3, or its name says that it is one.
bool is_mp3(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 10> head{};
  in.read(head.data(), head.size());
  const int64_t tag = tag_bytes(head);
  if (tag > 0) {
    head = {};
    in.clear();
    in.seekg(tag);
    in.read(head.data(), 4);
  }
  for (const char* other : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM"}) {
    if (std::memcmp(head.data(), other, 4) == 0) return false;
  }
  const auto first = static_cast<uint8_t>(head[0]), second = static_cast<uint8_t>(head[1]);
  const bool is_frame = first == 0xff && (second & 0xe0) == 0xe0 && (second & 0x06) != 0;
  return is_frame || tag > 0 || extension_of(path) == ".mp3";
}

}  // namespace

OpenedSound open_decoder(const fs::path& path) {
  if (is_mp3(path)) {
    auto decoder = Mp3Decoder::open(path);
    if (decoder == nullptr) return {nullptr, "it is a damaged or truncated mp3, or none at all"};
    return {std::move(decoder), ""};
  }
  SF_INFO info{};
  SoundFile file = open_sound_file(path, SFM_READ, info);
  if (file == nullptr) return {nullptr, sf_strerror(nullptr)};
  if (info.channels < 1 || info.samplerate < 1) return {nullptr, "it has no channels or no rate"};
  return {std::make_unique<SndfileDecoder>(std::move(file), info), ""};
}

}  // namespace hum::audio
