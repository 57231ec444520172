#include "models/mel_scale.h"

#include <algorithm>
#include <cmath>

#include "audio/dsp.h"

namespace hum::models {
namespace {

constexpr int kSampleRateHz = 22050;
constexpr double kLowestCentre_hz = 40;

}  // namespace

nn::MelScale mel_scale(int64_t window_samples, int64_t hop_samples, int64_t bands) {
  nn::MelScale scale{window_samples, hop_samples, bands, {}};
  scale.weights.resize(static_cast<size_t>((window_samples / 2 + 1) * bands));
  const auto triangles = audio::mel_bands(kSampleRateHz, static_cast<int>(window_samples),
                                          {.bands = static_cast<int>(bands), .normalised = false});
  for (int64_t band = 0; band < bands; ++band) {
    const auto& triangle = triangles[static_cast<size_t>(band)];
    for (size_t i = 0; i < triangle.weights.size(); ++i) {
      const int64_t bin = triangle.first_bin + static_cast<int64_t>(i);
      scale.weights[static_cast<size_t>(bin * bands + band)] = triangle.weights[i];
    }
  }
  return scale;
}

nn::MelScale octave_scale(int64_t window_samples, int64_t hop_samples, int64_t bands) {
  const int64_t bins = window_samples / 2 + 1;
  const double bin_hz = kSampleRateHz / static_cast<double>(window_samples);
  const double ratio =
      std::pow(kSampleRateHz / 2.0 / kLowestCentre_hz, 1 / static_cast<double>(bands));
  nn::MelScale scale{window_samples, hop_samples, bands, {}};
  for (int64_t bin = 0; bin < bins; ++bin) {
    const double hz = static_cast<double>(bin) * bin_hz;
    for (int64_t band = 0; band < bands; ++band) {
      const double centre_hz = kLowestCentre_hz * std::pow(ratio, static_cast<double>(band));
      const double reach_hz = std::max(bin_hz, centre_hz * (ratio - 1));
      scale.weights.push_back(
          static_cast<float>(std::max(0.0, 1 - std::abs(hz - centre_hz) / reach_hz)));
    }
  }
  return scale;
}

std::vector<nn::MelScale> training_mel_scales() {
  std::vector<nn::MelScale> scales;
  int64_t bands = 20;
  for (int64_t window = 128; window <= 2048; window *= 2, bands *= 2) {
    scales.push_back(mel_scale(window, window / 4, bands));
  }
  return scales;
}

}  // namespace hum::models
