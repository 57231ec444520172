// Writes a wav file to a pipe, whose length is not known at its start.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>

#include "audio/io.h"

namespace hum::app {

// 16 bits or float. The header's sizes are all ones, which means unknown length, as sox and ffmpeg
// write it.
class WavStream {
 public:
  // The caller owns the file.
  WavStream(std::FILE* file, int rate_hz, int channels, audio::SampleFormat format);

  // Writes whole frames, channels interleaved, and flushes them. Throws: what write_bytes throws.
  void write(std::span<const float> samples);
  double seconds() const { return static_cast<double>(frames_) / rate_hz_; }

 private:
  std::FILE* file_;
  int rate_hz_, channels_;
  bool is_float_;
  int64_t frames_ = 0;
};

}  // namespace hum::app
