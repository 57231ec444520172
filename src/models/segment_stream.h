// Separates a sound of any length with a program for segments of a fixed number of frames: cuts the
// sound into segments that may overlap, and adds up their results. Memory does not depend on the
// length.
//
// Frames are those of a short-time spectrum: frame t is centred on sample t hop. A sound of n
// samples has 1 + n / hop frames; a segment before its start or beyond its end sees silence there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/host_tensor.h"

namespace hum::models {

struct SegmentLayout {
  int64_t window_samples = 0, hop_samples = 0;
  int64_t frames = 0;   // of a segment
  int64_t overlap = 0;  // frames that two segments share, over which one fades into the next
  int64_t lead = 0;     // frames of the first segment before the start of the sound
  int64_t channels_in = 0, channels_out = 0, sounds = 0;

  int64_t segment_samples() const { return (frames - 1) * hop_samples + window_samples; }
};

class SegmentStream {
 public:
  // One segment. fade_T: weights with which the frames' windowed inverse transforms are added up;
  // 0 for those outside the sound. The result is not divided by the sum of squared windows.
  // Shapes: sound [channels_in, segment_samples], fade [frames] -> [sounds, channels_out,
  // segment_samples].
  using Run = std::function<runtime::HostTensor(const runtime::HostTensor& sound_CN,
                                                const runtime::HostTensor& fade_T)>;
  // Interleaved samples of each sound; all have the same length.
  using Sounds = std::vector<std::vector<float>>;

  SegmentStream(const SegmentLayout& layout, Run run);

  // Takes interleaved samples; returns those that are ready.
  Sounds push(std::span<const float> samples);
  // Returns the rest: all results together are as long as what was pushed.
  Sounds finish();

 private:
  int64_t first_frame() const;  // of the next segment
  int64_t first_sample() const;
  void take_in(std::span<const float> samples, Sounds& ready);
  void run_next();
  // The next segment's sound and weights.
  runtime::HostTensor cut_sound() const;
  runtime::HostTensor fades() const;
  void add(const runtime::HostTensor& sounds_SCN, const runtime::HostTensor& fade_T);
  // Removes what no later segment changes from the sums.
  void take_until(int64_t sample, Sounds& ready);

  SegmentLayout layout_;
  Run run_;
  std::vector<float> window_;
  std::vector<float> input_;  // interleaved, from sample input_start_ on
  int64_t input_start_ = 0, received_ = 0;
  int64_t segment_ = 0;  // the next
  bool ended_ = false;
  // Sums from sample taken_ on.
  int64_t taken_ = 0;
  Sounds sums_;
  std::vector<float> weights_;
};

// Appends what came next to each sound. `all` may be empty.
void append(SegmentStream::Sounds& all, const SegmentStream::Sounds& more);

}  // namespace hum::models
