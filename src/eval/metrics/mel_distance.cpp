#include "eval/metrics/mel_distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "audio/dsp.h"
#include "audio/loudness.h"

namespace hum::eval {
namespace {

constexpr std::array kScales{std::pair{32, 5},    std::pair{64, 10},  std::pair{128, 20},
                             std::pair{256, 40},  std::pair{512, 80}, std::pair{1024, 160},
                             std::pair{2048, 320}};
constexpr double kTargetLufs = -16;
constexpr float kFloor = 1e-3f;           // -60 dB
constexpr float kSmallestFloor = 1e-10f;  // for silence

std::vector<float> levelled(std::span<const float> samples, int rate_hz) {
  std::vector<float> result(samples.begin(), samples.end());
  audio::normalise(result, rate_hz, 1, {kTargetLufs, std::numeric_limits<double>::infinity()});
  return result;
}

double scale_distance(std::span<const float> reference, std::span<const float> estimate,
                      int rate_hz, int window_samples, int bands) {
  const audio::StftOptions stft{.window_samples = window_samples,
                                .hop_samples = window_samples / 4,
                                .padding = audio::Padding::kReflect};
  const audio::MelOptions mel{.bands = bands};
  const auto a = audio::mel_spectrogram(reference, rate_hz, stft, mel, 1);
  const auto b = audio::mel_spectrogram(estimate, rate_hz, stft, mel, 1);
  const float floor = std::max(kSmallestFloor, kFloor * std::ranges::max(a.values));
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum += std::abs(std::log10(std::max(floor, a.values[i])) -
                    std::log10(std::max(floor, b.values[i])));
  }
  return sum / static_cast<double>(a.values.size());
}

}  // namespace

double mel_distance(std::span<const float> reference, std::span<const float> estimate,
                    int rate_hz) {
  const size_t samples = std::min(reference.size(), estimate.size());
  if (samples == 0) return 0;
  const auto a = levelled(reference.first(samples), rate_hz);
  const auto b = levelled(estimate.first(samples), rate_hz);
  double sum = 0;
  for (const auto& [window_samples, bands] : kScales) {
    sum += scale_distance(a, b, rate_hz, window_samples, bands);
  }
  return sum / kScales.size();
}

}  // namespace hum::eval
