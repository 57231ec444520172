#include "app/play/wav_stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/process.h"

namespace hum::app {
namespace {

std::string little_endian(uint32_t value, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i));
  return result;
}

}  // namespace

WavStream::WavStream(std::FILE* file, int rate_hz, int channels, audio::SampleFormat format)
    : file_(file),
      rate_hz_(rate_hz),
      channels_(channels),
      is_float_(format == audio::SampleFormat::kFloat) {
  HUM_REQUIRE(format != audio::SampleFormat::k24, "WavStream: 24 bits are not supported");
  const uint32_t sample_bytes = is_float_ ? 4 : 2;
  const uint32_t frame_bytes = sample_bytes * static_cast<uint32_t>(channels);
  const auto rate = static_cast<uint32_t>(rate_hz);
  write_bytes(file_,
              "RIFF" + little_endian(0xffffffff, 4) + "WAVEfmt " + little_endian(16, 4) +
                  little_endian(is_float_ ? 3 : 1, 2) +
                  little_endian(static_cast<uint32_t>(channels), 2) + little_endian(rate, 4) +
                  little_endian(rate * frame_bytes, 4) + little_endian(frame_bytes, 2) +
                  little_endian(8 * sample_bytes, 2) + "data" + little_endian(0xffffffff, 4),
              "the stream");
}

void WavStream::write(std::span<const float> samples) {
  std::string bytes;
  for (const float sample : samples) {
    const auto whole = static_cast<int16_t>(std::lround(32767 * std::clamp(sample, -1.0F, 1.0F)));
    bytes += is_float_ ? little_endian(std::bit_cast<uint32_t>(sample), 4)
                       : little_endian(static_cast<uint16_t>(whole), 2);
  }
  write_bytes(file_, bytes, "the stream");
  frames_ += std::ssize(samples) / channels_;
}

}  // namespace hum::app
