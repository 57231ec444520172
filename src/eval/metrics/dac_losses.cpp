#include "eval/metrics/dac_losses.h"

#include <algorithm>
#include <cmath>

#include "audio/dsp.h"

namespace hum::eval {
namespace {

using Magnitudes = audio::Matrix<float>;

constexpr float kClamp = 1e-5F;

Magnitudes magnitudes(std::span<const float> samples, int window_samples) {
  return audio::spectrogram(samples,
                            {.window_samples = window_samples,
                             .hop_samples = window_samples / 4,
                             .padding = audio::Padding::kReflect},
                            1);
}

// Mean |difference| of log10(max(x, clamp)^power), plus magnitude_weight times that of x.
double scale_loss(const Magnitudes& a, const Magnitudes& b, double power, double magnitude_weight) {
  double logs = 0, linear = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double x = a.values[i], y = b.values[i];
    logs += power * std::abs(std::log10(std::max<double>(x, kClamp)) -
                             std::log10(std::max<double>(y, kClamp)));
    linear += std::abs(x - y);
  }
  return (logs + magnitude_weight * linear) / static_cast<double>(a.values.size());
}

template <typename Scales>
double mel_loss(std::span<const float> reference, std::span<const float> estimate, int rate_hz,
                const Scales& scales, double power, double magnitude_weight) {
  const size_t samples = std::min(reference.size(), estimate.size());
  if (samples == 0) return 0;
  double sum = 0;
  for (const auto& [window_samples, bands] : scales) {
    const auto triangles = audio::mel_bands(rate_hz, window_samples, {.bands = bands});
    auto mel = [&](std::span<const float> sound) {
      return audio::apply_mel(magnitudes(sound.first(samples), window_samples), triangles);
    };
    sum += scale_loss(mel(reference), mel(estimate), power, magnitude_weight);
  }
  return sum;
}

}  // namespace

double dac_training_mel(std::span<const float> reference, std::span<const float> estimate,
                        int rate_hz) {
  return mel_loss(reference, estimate, rate_hz, kDacMelScales, 1, 0);
}

double dac_mel(std::span<const float> reference, std::span<const float> estimate, int rate_hz) {
  constexpr std::array kScales{std::pair{2048, 150}, std::pair{512, 80}};
  return mel_loss(reference, estimate, rate_hz, kScales, 2, 1);
}

double dac_stft(std::span<const float> reference, std::span<const float> estimate) {
  const size_t samples = std::min(reference.size(), estimate.size());
  if (samples == 0) return 0;
  double sum = 0;
  for (const int window_samples : {2048, 512}) {
    sum += scale_loss(magnitudes(reference.first(samples), window_samples),
                      magnitudes(estimate.first(samples), window_samples), 2, 1);
  }
  return sum;
}

}  // namespace hum::eval
