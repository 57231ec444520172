#include "audio/mix.h"

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"
#include "base/error.h"

namespace hum::audio {

void apply_gain(AudioBuffer& buffer, double gain_db) {
  const auto gain = static_cast<float>(from_db(gain_db));
  for (float& sample : buffer.samples) sample *= gain;
}

AudioBuffer mix(const AudioBuffer& a, const AudioBuffer& b) {
  HUM_REQUIRE(a.rate_hz == b.rate_hz, "mix: rates differ: {} and {} Hz", a.rate_hz, b.rate_hz);
  HUM_REQUIRE(a.channels == b.channels || a.channels == 1 || b.channels == 1,
              "mix: channel counts differ: {} and {}", a.channels, b.channels);
  AudioBuffer result{a.rate_hz, std::max(a.channels, b.channels), {}};
  const auto channels = static_cast<size_t>(result.channels);
  result.samples.resize(static_cast<size_t>(std::max(a.frames(), b.frames())) * channels);
  for (const AudioBuffer* part : {&a, &b}) {
    const auto own = static_cast<size_t>(part->channels);
    for (size_t i = 0; i < static_cast<size_t>(part->frames()) * channels; ++i) {
      const size_t frame = i / channels, channel = i % channels;
      result.samples[i] += part->samples[frame * own + std::min(channel, own - 1)];
    }
  }
  return result;
}

}  // namespace hum::audio
