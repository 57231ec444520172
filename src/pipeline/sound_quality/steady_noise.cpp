#include "pipeline/sound_quality/steady_noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hum::pipeline {
namespace {

constexpr double kQuietShare = 0.1;
constexpr int64_t kFewestWindows = 20;
// Windows that overlap by more tell nothing new.
constexpr double kStep_s = 0.06;
constexpr double kSurroundings_octaves = 0.25;
constexpr int64_t kFewestBins = 4;  // on both sides
constexpr double kLowest_hz = 60;   // rumble below the lowest voice harms nothing

// The value that `share` of the values are below. Reorders them.
double quantile_of(std::vector<float>& values, double share) {
  const auto at = values.begin() + static_cast<int64_t>(share * std::ssize(values));
  std::ranges::nth_element(values, at);
  return *at;
}

// The windows to read, without digital silence.
std::vector<int64_t> sounding_windows(const Spectra& spectra) {
  const auto step = std::max<int64_t>(1, std::llround(kStep_s / spectra.hop_s()));
  std::vector<int64_t> windows;
  for (int64_t window = 0; window < spectra.windows(); window += step) {
    const auto row = spectra.power.row(window);
    if (std::accumulate(row.begin(), row.end(), 0.0) > kDigitalSilence) windows.push_back(window);
  }
  return windows;
}

std::vector<double> smoothed(const std::vector<float>& powers) {
  const double reach = std::exp2(kSurroundings_octaves);
  const auto last = std::ssize(powers) - 1;
  std::vector<double> result;
  std::vector<float> around;
  for (int64_t bin = 0; bin <= last; ++bin) {
    const auto centre = static_cast<double>(bin);
    const auto low = std::min(bin - kFewestBins, static_cast<int64_t>(centre / reach));
    const auto high = std::max(bin + kFewestBins, static_cast<int64_t>(std::ceil(centre * reach)));
    around.assign(powers.begin() + std::clamp<int64_t>(low, 0, last),
                  powers.begin() + std::clamp<int64_t>(high, 0, last) + 1);
    result.push_back(quantile_of(around, 0.5));
  }
  return result;
}

}  // namespace

std::optional<std::vector<double>> steady_noise(const Spectra& spectra) {
  const auto windows = sounding_windows(spectra);
  if (std::ssize(windows) < kFewestWindows) return std::nullopt;
  // The power of noise in a bin is distributed exponentially around its mean.
  const double mean_of_quantile = -1 / std::log(1 - kQuietShare);
  std::vector<float> powers, column;
  for (int64_t bin = 0; bin < spectra.bins(); ++bin) {
    column.clear();
    for (const int64_t window : windows) column.push_back(spectra.power(window, bin));
    powers.push_back(static_cast<float>(mean_of_quantile * quantile_of(column, kQuietShare)));
  }
  return smoothed(powers);
}

double noise_power(const Spectra& spectra, const std::vector<double>& noise) {
  const auto lowest = static_cast<int64_t>(std::ceil(kLowest_hz / spectra.hz_per_bin()));
  return std::accumulate(noise.begin() + std::min(lowest, std::ssize(noise)), noise.end(), 0.0);
}

}  // namespace hum::pipeline
