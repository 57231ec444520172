// The clock of all synthesised sound: mono float at 22,050 Hz, 50 melody frames per second, windows
// of 6 s.
#pragma once

#include <cmath>
#include <cstdint>

namespace hum::data {

inline constexpr int kSampleRate = 22050;
inline constexpr int kFrameSamples = 441;
inline constexpr int kFramesPerSecond = 50;
inline constexpr int kItemSeconds = 6;
inline constexpr int kItemSamples = kItemSeconds * kSampleRate;      // 132,300
inline constexpr int kItemFrames = kItemSeconds * kFramesPerSecond;  // 300

static_assert(kFrameSamples * kFramesPerSecond == kSampleRate);

// The sample nearest to a time.
inline int64_t sample_of(double time_s) { return std::llround(time_s * kSampleRate); }

// The melody frame that contains a time.
inline int64_t frame_of(double time_s) {
  return static_cast<int64_t>(std::floor(time_s * kFramesPerSecond + 1e-9));
}

}  // namespace hum::data
