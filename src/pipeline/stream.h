// Sound handed out while the rest of it is still being made.
#pragma once

#include <optional>

#include "audio/limiter.h"
#include "audio/resample.h"
#include "pipeline/generate.h"

namespace hum::pipeline {

// finish() for sound that comes in parts. Its loudness cannot be known: the first part that is not
// silent (and the next, where a note has just begun in it) is brought to -16 LUFS, the same gain
// holds to the end, and a limiter keeps peaks below
// -2 dBFS. Where the release dies away is decided at the end, as by finish().
class StreamFinisher {
 public:
  // `sink` takes as many channels, interleaved, at rate_hz.
  StreamFinisher(double melody_end_s, int rate_hz, SampleSink sink, int channels = 1);

  // Whole frames at 22,050 Hz, as play() hands them out.
  void push(std::span<const float> samples);
  void finish();

 private:
  void send(std::span<const float> samples);

  double melody_end_s_;
  int channels_;
  SampleSink sink_;
  audio::StreamResampler resampler_;
  audio::Limiter limiter_;
  std::optional<float> gain_;
  std::vector<float> samples_;  // all so far
  size_t sent_ = 0;
};

}  // namespace hum::pipeline
