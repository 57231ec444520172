#include <mpg123.h>

#include <algorithm>

#include "audio/byte_reader_impl.h"
#include "audio/decoder_impl.h"
#include "audio/io.h"
#include "audio/sound_file_impl.h"
#include "base/mapped_file.h"

namespace hum::audio {
namespace fs = std::filesystem;
namespace {

class SndfileDecoder : public Decoder {
 public:
  // `reader`: what `file` reads from; null if it has a path.
  SndfileDecoder(SoundFile file, const SF_INFO& info, std::unique_ptr<ByteReader> reader = nullptr)
      : reader_(std::move(reader)), file_(std::move(file)) {
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
  std::unique_ptr<ByteReader> reader_;
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
    auto decoder = std::make_unique<Mp3Decoder>(nullptr);
    if (decoder->handle_ == nullptr ||
        mpg123_open_fixed(decoder->handle_.get(), path.c_str(), MPG123_MONO | MPG123_STEREO,
                          MPG123_ENC_FLOAT_32) != MPG123_OK) {
      return nullptr;
    }
    return read_format(std::move(decoder));
  }
  static std::unique_ptr<Decoder> open(std::string_view bytes) {
    auto decoder = std::make_unique<Mp3Decoder>(std::make_unique<ByteReader>(bytes));
    if (decoder->handle_ == nullptr || !decoder->open_reader()) return nullptr;
    return read_format(std::move(decoder));
  }
  explicit Mp3Decoder(std::unique_ptr<ByteReader> reader) : reader_(std::move(reader)) {
    static const int ready = mpg123_init();
    if (ready != MPG123_OK) return;
    handle_.reset(mpg123_new(nullptr, nullptr));
    if (handle_ == nullptr) return;
    mpg123_param(handle_.get(), MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0);
    mpg123_param(handle_.get(), MPG123_ADD_FLAGS,
                 MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS, 0);
  }

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
  static std::unique_ptr<Decoder> read_format(std::unique_ptr<Mp3Decoder> decoder) {
    long rate = 0;
    int count = 0, encoding = 0;
    if (mpg123_getformat(decoder->handle_.get(), &rate, &count, &encoding) != MPG123_OK ||
        encoding != MPG123_ENC_FLOAT_32 || rate < 1 || count < 1) {
      return nullptr;
    }
    decoder->rate_hz = static_cast<int>(rate);
    decoder->channels = count;
    if (decoder->states_its_length()) decoder->frames = mpg123_length(decoder->handle_.get());
    return decoder;
  }

  // What mpg123_open_fixed does, which takes only a path: the format of the first frame stays, and
  // without a stated length the whole file is scanned.
  bool open_reader() {
    mpg123_handle* const handle = handle_.get();
    const auto read = [](void* from, void* to, size_t count) -> ssize_t {
      return reader_of(from).read(to, static_cast<int64_t>(count));
    };
    const auto seek = [](void* from, off_t offset, int whence) -> off_t {
      return reader_of(from).seek(offset, whence);
    };
    long rate = 0;
    int count = 0, encoding = 0;
    return mpg123_replace_reader_handle(handle, read, seek, nullptr) == MPG123_OK &&
           mpg123_param(handle, MPG123_ADD_FLAGS, MPG123_NO_FRANKENSTEIN, 0) == MPG123_OK &&
           mpg123_format_none(handle) == MPG123_OK &&
           mpg123_format2(handle, 0, MPG123_MONO | MPG123_STEREO, MPG123_ENC_FLOAT_32) ==
               MPG123_OK &&
           mpg123_open_handle(handle, reader_.get()) == MPG123_OK &&
           mpg123_getformat(handle, &rate, &count, &encoding) == MPG123_OK &&
           mpg123_format_none(handle) == MPG123_OK &&
           mpg123_format(handle, rate, count, encoding) == MPG123_OK &&
           (states_its_length() || mpg123_scan(handle) == MPG123_OK);
  }

  // Whether the first frame says how long the sound is. Otherwise the length is an estimate.
  bool states_its_length() const {
    mpg123_frameinfo2 info{};
    if (mpg123_info2(handle_.get(), &info) == MPG123_OK && info.vbr != MPG123_CBR) return true;
    long delay = -1;
    return mpg123_getstate2(handle_.get(), MPG123_ENC_DELAY, &delay, nullptr) == MPG123_OK &&
           delay >= 0;
  }

  std::unique_ptr<ByteReader> reader_;  // null if the handle has a path
  Mp3Handle handle_;
  bool has_failed_ = false;
};

// The size of an ID3 tag at the start, which any format may have; 0: none.
size_t tag_bytes(std::string_view file) {
  if (file.size() < 10 || !file.starts_with("ID3")) return 0;
  size_t size = 0;
  for (size_t i = 6; i < 10; ++i) size = size << 7 | (static_cast<uint8_t>(file[i]) & 0x7f);
  return size + 10;
}

// Whether libsndfile would take the file for an mp3, or its name says that it is one.
bool is_mp3(std::string_view file, bool is_named_mp3) {
  const size_t tag = tag_bytes(file);
  const std::string_view head = file.substr(std::min(tag, file.size()), 4);
  for (const char* other : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM"}) {
    if (head == other) return false;
  }
  const auto byte = [&](size_t i) { return i < head.size() ? static_cast<uint8_t>(head[i]) : 0; };
  const bool is_frame = byte(0) == 0xff && (byte(1) & 0xe0) == 0xe0 && (byte(1) & 0x06) != 0;
  return is_frame || tag > 0 || is_named_mp3;
}

// Whether libsndfile recognises the file by its content. If it does not, it searches the disk for a
// resource fork. Some rare formats are left out.
bool is_sound(std::string_view file) {
  file.remove_prefix(std::min(tag_bytes(file), file.size()));
  if (file.size() < 12) return false;
  const std::string_view head = file.substr(0, 4), kind = file.substr(8, 4);
  if (head == "RIFF" || head == "RIFX" || head == "RF64") return kind == "WAVE";
  if (head == "FORM") return kind == "AIFF" || kind == "AIFC";
  return head == "fLaC" || head == "OggS" || head == "caff" || head == ".snd";
}

OpenedSound opened_mp3(std::unique_ptr<Decoder> decoder) {
  if (decoder == nullptr) return {nullptr, "it is a damaged or truncated mp3, or none at all"};
  return {std::move(decoder), ""};
}

OpenedSound opened_sound(SoundFile file, const SF_INFO& info, std::unique_ptr<ByteReader> reader) {
  if (file == nullptr) {
    const std::string fault = sf_strerror(nullptr);
    // What libsndfile says of a rate below 1 Hz.
    const bool has_no_rate = fault.find("SF_INFO struct incomplete") != std::string::npos;
    return {nullptr, has_no_rate ? "its header states a rate of 0 Hz" : fault};
  }
  if (info.channels < 1 || info.samplerate < 1) return {nullptr, "it has no channels or no rate"};
  return {std::make_unique<SndfileDecoder>(std::move(file), info, std::move(reader)), ""};
}

}  // namespace

OpenedSound open_decoder(const fs::path& path) {
  if (is_mp3(MappedFile(path).bytes(), extension_of(path) == ".mp3")) {
    return opened_mp3(Mp3Decoder::open(path));
  }
  SF_INFO info{};
  SoundFile file = open_sound_file(path, SFM_READ, info);
  return opened_sound(std::move(file), info, nullptr);
}

OpenedSound open_decoder(std::string_view bytes) {
  if (is_mp3(bytes, false)) return opened_mp3(Mp3Decoder::open(bytes));
  if (!is_sound(bytes)) return {nullptr, "its format is not recognised"};
  SF_INFO info{};
  auto reader = std::make_unique<ByteReader>(bytes);
  SoundFile file = open_sound_bytes(*reader, info);
  return opened_sound(std::move(file), info, std::move(reader));
}

}  // namespace hum::audio
