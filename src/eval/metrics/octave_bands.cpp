#include "eval/metrics/octave_bands.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::eval {
namespace {

constexpr double kLowestCenterHz = 31.25;
constexpr double kSmallestPower = 1e-20;
constexpr int kWindowSamples = 8192;

// Mean power of each bin, scaled so that they sum to the mean square of the samples.
std::vector<double> bin_powers(std::span<const float> samples) {
  const audio::StftOptions options{.window_samples = kWindowSamples,
                                   .hop_samples = kWindowSamples / 4};
  const auto spectrum = audio::spectrogram(samples, options, 2);
  // The squared Hann windows at a quarter hop sum to 1.5; each bin except the first and last counts
  // twice.
  const double scale = 1 / (1.5 * kWindowSamples * static_cast<double>(samples.size()));
  std::vector<double> powers(static_cast<size_t>(spectrum.columns));
  for (int64_t t = 0; t < spectrum.rows; ++t) {
    for (int64_t k = 0; k < spectrum.columns; ++k) {
      const bool is_single = k == 0 || k + 1 == spectrum.columns;
      powers[static_cast<size_t>(k)] += scale * (is_single ? 1 : 2) * spectrum(t, k);
    }
  }
  return powers;
}

double decibels(double power) { return 10 * std::log10(std::max(power, kSmallestPower)); }

}  // namespace

std::vector<double> octave_powers(std::span<const float> samples, int rate_hz) {
  HUM_REQUIRE(!samples.empty(), "octave_powers: the sound is empty");
  const auto powers = bin_powers(samples);
  const double bin_hz = static_cast<double>(rate_hz) / kWindowSamples;
  std::vector<double> bands;
  for (double hz = kLowestCenterHz; hz / std::numbers::sqrt2 < rate_hz / 2.0; hz *= 2) {
    const double low_hz = hz / std::numbers::sqrt2, high_hz = hz * std::numbers::sqrt2;
    double& band = bands.emplace_back();
    for (size_t k = 0; k < powers.size(); ++k) {
      const double bin = static_cast<double>(k) * bin_hz;
      if (bin >= low_hz && bin < high_hz) band += powers[k];
    }
  }
  return bands;
}

std::vector<OctaveBand> octave_bands(std::span<const double> reference_powers,
                                     std::span<const double> estimate_powers) {
  HUM_REQUIRE(reference_powers.size() == estimate_powers.size(), "octave_bands: {} and {} bands",
              reference_powers.size(), estimate_powers.size());
  std::vector<OctaveBand> bands;
  double hz = kLowestCenterHz;
  for (size_t i = 0; i < reference_powers.size(); ++i, hz *= 2) {
    bands.push_back({hz, decibels(reference_powers[i]), decibels(estimate_powers[i])});
  }
  return bands;
}

std::vector<OctaveBand> octave_bands(std::span<const float> reference,
                                     std::span<const float> estimate, int rate_hz) {
  return octave_bands(octave_powers(reference, rate_hz), octave_powers(estimate, rate_hz));
}

double octave_band_difference_db(std::span<const OctaveBand> bands, double range_db) {
  double strongest_db = -std::numeric_limits<double>::infinity(), largest_db = 0;
  for (const OctaveBand& band : bands) strongest_db = std::max(strongest_db, band.reference_db);
  for (const OctaveBand& band : bands) {
    if (band.reference_db < strongest_db - range_db) continue;
    largest_db = std::max(largest_db, std::abs(band.difference_db()));
  }
  return largest_db;
}

}  // namespace hum::eval
