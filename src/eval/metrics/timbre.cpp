#include "eval/metrics/timbre.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/dsp.h"

namespace hum::eval {
namespace {

constexpr double kRms = 0.1;
constexpr double kSoundingPower = 1e-4;  // -40 dB

// Mean square of the samples under each centered, unwindowed frame.
std::vector<double> frame_powers(std::span<const float> samples, const audio::StftOptions& options,
                                 int64_t frames) {
  std::vector<double> sums(samples.size() + 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    sums[i + 1] = sums[i] + static_cast<double>(samples[i]) * samples[i];
  }
  std::vector<double> powers;
  const auto size = static_cast<int64_t>(samples.size());
  for (int64_t t = 0; t < frames; ++t) {
    const int64_t start = t * options.hop_samples - options.window_samples / 2;
    const auto low = static_cast<size_t>(std::clamp<int64_t>(start, 0, size));
    const auto high =
        static_cast<size_t>(std::clamp<int64_t>(start + options.window_samples, 0, size));
    powers.push_back((sums[high] - sums[low]) / options.window_samples);
  }
  return powers;
}

}  // namespace

Timbre timbre_of(std::span<const float> samples, int rate_hz, double range_db) {
  Timbre timbre{};
  double energy = 0;
  for (const float sample : samples) energy += static_cast<double>(sample) * sample;
  if (energy == 0) return timbre;
  const double rms = std::sqrt(energy / static_cast<double>(samples.size()));
  std::vector<float> scaled(samples.begin(), samples.end());
  for (float& sample : scaled) sample = static_cast<float>(sample * (kRms / rms));

  const audio::MfccOptions options{.coefficients = static_cast<int>(timbre.size()) + 1,
                                   .range_db = range_db};
  const auto mfcc = audio::mfcc(scaled, rate_hz, options);
  const auto powers = frame_powers(scaled, options.stft, mfcc.rows);
  const double threshold = kSoundingPower * std::ranges::max(powers);
  int64_t sounding = 0;
  for (int64_t t = 0; t < mfcc.rows; ++t) {
    if (powers[static_cast<size_t>(t)] < threshold) continue;
    ++sounding;
    for (size_t k = 0; k < timbre.size(); ++k) timbre[k] += mfcc(t, static_cast<int64_t>(k) + 1);
  }
  for (double& value : timbre) value /= static_cast<double>(sounding);
  return timbre;
}

double timbre_distance(const Timbre& a, const Timbre& b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

}  // namespace hum::eval
