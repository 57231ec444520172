#include "pipeline/sound_quality/narrow_band.h"

#include <cmath>
#include <numeric>

namespace hum::pipeline {
namespace {

// The noise of two bands is compared. Clean synthetic singers leave at most 28 dB less in the upper
// one, files of 11 kHz at least 40 dB.
constexpr double kLower_hz[] = {2300, 2900}, kUpper_hz[] = {6200, 7200};
constexpr double kMostFall_db = 40;
// Against all sound. Less noise below is digital silence: nothing can be said.
constexpr double kLeastNoise_db = -100;
constexpr double kTiny = 1e-16;

double mean_between(const std::vector<double>& powers, const double (&band_hz)[2],
                    double hz_per_bin) {
  const auto first = powers.begin() + std::llround(band_hz[0] / hz_per_bin);
  const auto last = powers.begin() + std::llround(band_hz[1] / hz_per_bin);
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first) + kTiny;
}

}  // namespace

bool has_narrow_band(const Spectra& spectra, const std::vector<double>& noise) {
  const auto& powers = spectra.power.values;
  const double all =
      std::accumulate(powers.begin(), powers.end(), kTiny) / static_cast<double>(spectra.windows());
  const double lower = mean_between(noise, kLower_hz, spectra.hz_per_bin());
  const double upper = mean_between(noise, kUpper_hz, spectra.hz_per_bin());
  const double lower_bins = (kLower_hz[1] - kLower_hz[0]) / spectra.hz_per_bin();
  return decibels(lower * lower_bins / all) > kLeastNoise_db &&
         decibels(lower / upper) > kMostFall_db;
}

}  // namespace hum::pipeline
