// Hands out sound while the rest is still being generated.
#pragma once

#include <optional>

#include "audio/limiter.h"
#include "audio/resample.h"
#include "pipeline/generate.h"

namespace hum::pipeline {

// finish() for sound that arrives in parts. Its loudness is not known in advance: the first part
// of the melody (and the next, if a note has just begun in it) sets the gain to -16 LUFS, this gain
// holds to the end, and a limiter keeps peaks below -2 dBFS. The end of the release is found
// at the end, as in finish().
class StreamFinisher {
 public:
  // `sink` takes as many channels, interleaved, at rate_hz.
  StreamFinisher(std::span<const audio::Note> melody, int rate_hz, SampleSink sink,
                 int channels = 1);

  // Whole frames at 22,050 Hz, as play() hands them out.
  void push(std::span<const float> samples);
  void finish();

 private:
  void send(std::span<const float> samples);
  // Without what comes before the first note: the noise of a rest must not set the level. The part
  // begins where the last one that was sent ended.
  std::span<const float> of_melody(std::span<const float> part) const;

  double melody_start_s_, melody_end_s_;
  int channels_;
  SampleSink sink_;
  audio::StreamResampler resampler_;
  audio::Limiter limiter_;
  std::optional<float> gain_;
  std::vector<float> samples_;  // all so far
  size_t sent_ = 0;
};

}  // namespace hum::pipeline
