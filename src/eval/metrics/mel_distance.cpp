#include "eval/metrics/mel_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "audio/dsp.h"
#include "audio/loudness.h"
#include "eval/metrics/dac_losses.h"

namespace hum::eval {
namespace {

constexpr double kTargetLufs = -16;
constexpr float kFloor = 1e-3f;           // -60 dB
constexpr float kSmallestFloor = 1e-10f;  // for silence

std::vector<float> levelled(std::span<const float> samples, int rate_hz) {
  std::vector<float> result(samples.begin(), samples.end());
  audio::normalise(result, rate_hz, 1, {kTargetLufs, std::numeric_limits<double>::infinity()});
  return result;
}

audio::StftOptions quarter_hop(int window_samples) {
  return {.window_samples = window_samples,
          .hop_samples = window_samples / 4,
          .padding = audio::Padding::kReflect};
}

// `a` is the reference.
double floored_distance(const audio::Matrix<float>& a, const audio::Matrix<float>& b) {
  const float floor = std::max(kSmallestFloor, kFloor * std::ranges::max(a.values));
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum += std::abs(std::log10(std::max(floor, a.values[i])) -
                    std::log10(std::max(floor, b.values[i])));
  }
  return sum / static_cast<double>(a.values.size());
}

// The mean over scales of the distance between spectra(sound, scale).
template <typename Scales, typename Spectra>
double mean_distance(std::span<const float> reference, std::span<const float> estimate, int rate_hz,
                     const Scales& scales, const Spectra& spectra) {
  const size_t samples = std::min(reference.size(), estimate.size());
  if (samples == 0) return 0;
  const auto a = levelled(reference.first(samples), rate_hz);
  const auto b = levelled(estimate.first(samples), rate_hz);
  double sum = 0;
  for (const auto& scale : scales) sum += floored_distance(spectra(a, scale), spectra(b, scale));
  return sum / static_cast<double>(std::size(scales));
}

}  // namespace

double mel_distance(std::span<const float> reference, std::span<const float> estimate,
                    int rate_hz) {
  return mean_distance(reference, estimate, rate_hz, kDacMelScales,
                       [&](std::span<const float> sound, const std::pair<int, int>& scale) {
                         const auto [window_samples, bands] = scale;
                         return audio::mel_spectrogram(sound, rate_hz, quarter_hop(window_samples),
                                                       {.bands = bands}, 1);
                       });
}

double stft_distance(std::span<const float> reference, std::span<const float> estimate,
                     int rate_hz) {
  return mean_distance(reference, estimate, rate_hz, std::array{2048, 512},
                       [&](std::span<const float> sound, int window_samples) {
                         return audio::spectrogram(sound, quarter_hop(window_samples), 1);
                       });
}

}  // namespace hum::eval
