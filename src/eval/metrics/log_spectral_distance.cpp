#include "eval/metrics/log_spectral_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "audio/dsp.h"
#include "audio/resample.h"

namespace hum::eval {
namespace {

constexpr int kRateHz = 16000;

// Shapes: -> [frames, 128].
audio::Matrix<float> mel_db(std::vector<float> samples) {
  double energy = 0;
  for (const float sample : samples) energy += static_cast<double>(sample) * sample;
  const double rms = std::sqrt(energy / static_cast<double>(samples.size()));
  const double gain = 1 / (rms + std::numeric_limits<float>::epsilon());
  for (float& sample : samples) sample = static_cast<float>(sample * gain);
  auto mel = audio::mel_spectrogram(samples, kRateHz);
  audio::power_to_db(mel);
  return mel;
}

}  // namespace

double log_spectral_distance_db(std::span<const float> reference, std::span<const float> estimate,
                                int rate_hz) {
  if (reference.empty()) return 0;
  auto other = audio::resample(estimate, rate_hz, kRateHz);
  auto one = audio::resample(reference, rate_hz, kRateHz);
  other.resize(one.size());
  const auto a = mel_db(std::move(one)), b = mel_db(std::move(other));
  double sum = 0;
  for (int64_t band = 0; band < a.columns; ++band) {
    double squares = 0;
    for (int64_t t = 0; t < a.rows; ++t) squares += std::pow(a(t, band) - b(t, band), 2);
    sum += std::sqrt(squares / static_cast<double>(a.rows));
  }
  return sum / static_cast<double>(a.columns);
}

}  // namespace hum::eval
