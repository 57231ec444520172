#include "audio/buffer.h"

#include <cmath>

#include "base/error.h"

namespace hum::audio {

AudioBuffer to_mono(const AudioBuffer& buffer) {
  if (buffer.channels == 1) return buffer;
  AudioBuffer mono{buffer.rate_hz, 1, std::vector<float>(static_cast<size_t>(buffer.frames()))};
  const auto channels = static_cast<size_t>(buffer.channels);
  for (size_t i = 0; i < mono.samples.size(); ++i) {
    float sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += buffer.samples[i * channels + c];
    mono.samples[i] = sum / static_cast<float>(channels);
  }
  return mono;
}

void Cancellation::add(std::span<const float> interleaved, std::span<const float> mixed) {
  for (size_t i = 0; i < interleaved.size(); ++i) {
    energies_[i % energies_.size()] += static_cast<double>(interleaved[i]) * interleaved[i];
  }
  for (const float sample : mixed) mixed_ += static_cast<double>(sample) * sample;
}

std::optional<int> Cancellation::channel_to_use() const {
  double sum = 0;
  for (const double energy : energies_) sum += energy;
  const auto count = static_cast<double>(energies_.size());
  if (energies_.size() == 1 || !(mixed_ < 0.1 * sum / (count * count))) return std::nullopt;
  return static_cast<int>(std::ranges::max_element(energies_) - energies_.begin());
}

AudioBuffer from_mono(std::span<const float> samples, int rate_hz, int channels) {
  HUM_REQUIRE(channels >= 1, "from_mono: channels must be positive, got {}", channels);
  AudioBuffer buffer{rate_hz, channels, {}};
  buffer.samples.reserve(samples.size() * static_cast<size_t>(channels));
  for (const float sample : samples) {
    buffer.samples.insert(buffer.samples.end(), static_cast<size_t>(channels), sample);
  }
  return buffer;
}

AudioBuffer widened(AudioBuffer sound, int channels) {
  if (sound.channels > 1 || channels == 1) return sound;
  return from_mono(sound.samples, sound.rate_hz, channels);
}

double clipped_fraction(const AudioBuffer& buffer) {
  constexpr float kLoud = 0.98f;
  constexpr float kStep = 1.0f / 32768;
  constexpr int64_t kShortestRun = 3;
  if (buffer.samples.empty()) return 0;
  int64_t clipped = 0;
  const auto stride = static_cast<size_t>(buffer.channels);
  for (size_t channel = 0; channel < stride; ++channel) {
    int64_t run = 0;
    float previous = 0;
    for (size_t i = channel; i < buffer.samples.size(); i += stride) {
      const float sample = buffer.samples[i];
      const bool is_loud = std::abs(sample) >= kLoud;
      run = !is_loud ? 0 : std::abs(sample - previous) < kStep ? run + 1 : 1;
      if (run == kShortestRun) clipped += kShortestRun;
      if (run > kShortestRun) ++clipped;
      previous = sample;
    }
  }
  return static_cast<double>(clipped) / static_cast<double>(buffer.samples.size());
}

}  // namespace hum::audio
