// Sound in memory: interleaved samples and basic operations on them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hum::audio {

struct AudioBuffer {
  int rate_hz = 0;
  int channels = 1;
  std::vector<float> samples;  // interleaved, full scale is +-1

  int64_t frames() const { return static_cast<int64_t>(samples.size()) / channels; }
  double seconds() const { return static_cast<double>(frames()) / rate_hz; }
};

// Mean of the channels.
AudioBuffer to_mono(const AudioBuffer& buffer);
// The same samples in each channel.
AudioBuffer from_mono(std::span<const float> samples, int rate_hz, int channels = 1);
// Copies mono sound to `channels` channels; returns other sound unchanged.
AudioBuffer widened(AudioBuffer sound, int channels);

// Whether channels cancel each other when they are mixed, as when one of two is inverted.
class Cancellation {
 public:
  explicit Cancellation(int channels) : energies_(static_cast<size_t>(channels)) {}

  // `mixed`: to_mono of the samples.
  void add(std::span<const float> interleaved, std::span<const float> mixed);
  // The loudest channel, if the mix has less than a tenth of the energy that unrelated channels
  // would leave. Of two equally loud ones: if their correlation is below -0.9.
  std::optional<int> channel_to_use() const;
  // Sum of squares of each channel.
  const std::vector<double>& energies() const { return energies_; }

 private:
  std::vector<double> energies_;
  double mixed_ = 0;
};

// Fraction of the samples on a flat top: at least three consecutive samples of one channel at or
// above 0.98 of full scale, each less than a 16-bit step from the previous one. Zero for clean
// sound; above 0.001 is worth a warning.
double clipped_fraction(const AudioBuffer& buffer);

}  // namespace hum::audio
