// A wav file into a pipe: its length is not known when it begins.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>

#include "audio/io.h"

namespace hum::app {

// 16 bits or float. The header says "as long as it gets" (sizes of all ones), as sox and ffmpeg
// write it.
class WavStream {
 public:
  // The file stays the caller's.
  WavStream(std::FILE* file, int rate_hz, int channels, audio::SampleFormat format);

  // Whole frames, channels interleaved. Flushed at once. Throws: kCannotCreate when the reader has
  // gone.
  void write(std::span<const float> samples);
  double seconds() const { return static_cast<double>(frames_) / rate_hz_; }

 private:
  std::FILE* file_;
  int rate_hz_, channels_;
  bool is_float_;
  int64_t frames_ = 0;
};

}  // namespace hum::app
