// Sample rate conversion (soxr, "HQ": what librosa's default soxr_hq does).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "audio/buffer.h"

namespace hum::audio {

// ceil(frames * to / from), computed as librosa does.
int64_t resampled_frames(int64_t frames, int from_hz, int to_hz);

// One channel; the result has resampled_frames(...) samples.
std::vector<float> resample(std::span<const float> samples, int from_hz, int to_hz);

AudioBuffer resample(const AudioBuffer& buffer, int to_hz);

}  // namespace hum::audio
