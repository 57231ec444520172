// Decoders of sound files: libsndfile's, and libmpg123 for mp3 files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hum::audio {

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Returns the number of frames that it wrote to `interleaved`, 0 at the end.
  virtual int64_t read(std::span<float> interleaved) = 0;
  // Whether the decoder found a fault in what was read.
  virtual bool has_failed() const = 0;

  int rate_hz = 0, channels = 0;
  int64_t frames = -1;  // -1: unknown
};

struct OpenedSound {
  std::unique_ptr<Decoder> decoder;  // null: the file is not one that hum reads
  std::string fault;                 // then the reason
};

// Chooses the decoder by the file's first bytes.
OpenedSound open_decoder(const std::filesystem::path& path);
// The same for the bytes of a file, which the decoder does not copy: wav, rf64, aiff, caf, au,
// flac, ogg and mp3. It makes no system calls besides those for memory.
OpenedSound open_decoder(std::string_view bytes);

}  // namespace hum::audio
