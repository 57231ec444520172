// Converts sound files to codec tokens and back, for `hum codec`.
#pragma once

#include <cstdint>
#include <string>

#include "audio/io.h"
#include "models/codec/config.h"

namespace hum::app {

struct EncodeOptions {
  std::string input, output;  // a sound file; .safetensors
  std::string weights;
  double max_seconds = audio::kDefaultMaxSeconds;
};

struct EncodedFile {
  int64_t frames, books;
};

// Throws: kUsage for a wrong output name; what decode::read_recording throws.
EncodedFile encode_file(const EncodeOptions& options);

struct DecodeOptions {
  std::string input, output;  // tokens; .wav, .flac or .ogg
  std::string weights;
  int64_t books = 0, rate_hz = models::codec::kSampleRateHz;
};

// Returns the seconds of sound that it wrote. Throws: kUsage naming the option that is out of
// range; kBadData for tokens that the weights cannot decode.
double decode_file(const DecodeOptions& options);

}  // namespace hum::app
