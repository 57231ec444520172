// Sample rate conversion with soxr at quality "HQ", as librosa's default soxr_hq.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/buffer.h"

namespace hum::audio {

// ceil(frames * to / from), computed as librosa does.
int64_t resampled_frames(int64_t frames, int from_hz, int to_hz);

// One channel; the result has resampled_frames(...) samples.
std::vector<float> resample(std::span<const float> samples, int from_hz, int to_hz);

AudioBuffer resample(const AudioBuffer& buffer, int to_hz);

// Resamples a stream, with the same result as resample() of the whole. Channels are interleaved.
class StreamResampler {
 public:
  StreamResampler(int from_hz, int to_hz, int channels = 1);
  ~StreamResampler();
  StreamResampler(const StreamResampler&) = delete;
  StreamResampler& operator=(const StreamResampler&) = delete;

  // The samples ready so far; a few milliseconds are held back.
  std::vector<float> push(std::span<const float> samples);
  // The remaining samples. No input may follow.
  std::vector<float> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::audio
