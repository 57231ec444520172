#include "pipeline/sound_quality/reverberation.h"

#include <algorithm>
#include <cmath>

#include "base/quantile.h"

namespace hum::pipeline {
namespace {

constexpr int64_t kBands = 60;
constexpr double kLowest_hz = 150, kHighest_hz = 4500;
constexpr double kFit_s = 0.3;
// A decay begins within so many dB of the loud part of its band, and of the loudest band.
constexpr double kBelowBand_db = 20, kBelowAll_db = 35;
constexpr double kLoudShare = 0.9;
// It must have room to fall: a room of 0.8 s falls by 22 dB in kFit_s.
constexpr double kAboveNoise_db = 22;
constexpr double kSteepestShare = 0.02;
constexpr size_t kFewestDecays = 150;
constexpr double kTiny = 1e-13;

// The bins of a band: those whose centres lie in it, else the nearest.
struct Band {
  int64_t first, last;
};

std::vector<Band> bands_of(const Spectra& spectra) {
  const double ratio = std::pow(kHighest_hz / kLowest_hz, 1.0 / kBands);
  std::vector<Band> bands;
  double low = kLowest_hz / spectra.hz_per_bin();
  for (int64_t band = 0; band < kBands; ++band, low *= ratio) {
    const auto first = static_cast<int64_t>(std::ceil(low));
    const auto last = static_cast<int64_t>(std::ceil(low * ratio)) - 1;
    const auto nearest = std::llround(low * std::sqrt(ratio));
    bands.push_back(first <= last ? Band{first, last} : Band{nearest, nearest});
  }
  return bands;
}

// The slope of a line through the levels, in dB per step.
double slope_of(std::span<const double> levels) {
  const double middle = (static_cast<double>(levels.size()) - 1) / 2;
  double product = 0, squares = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    product += x * levels[i];
    squares += x * x;
  }
  return product / squares;
}

struct BandLevels {
  std::vector<double> db;  // of each window
  double loud_db = 0, noise_db = 0;
};

BandLevels levels_of(const Spectra& spectra, const std::vector<double>& noise, Band band) {
  BandLevels levels;
  double noise_sum = kTiny;
  for (int64_t bin = band.first; bin <= band.last; ++bin) {
    noise_sum += noise[static_cast<size_t>(bin)];
  }
  levels.noise_db = decibels(noise_sum);
  for (int64_t window = 0; window < spectra.windows(); ++window) {
    double sum = kTiny;
    for (int64_t bin = band.first; bin <= band.last; ++bin) sum += spectra.power(window, bin);
    levels.db.push_back(decibels(sum));
  }
  auto sorted = levels.db;
  std::ranges::sort(sorted);
  levels.loud_db = quantile(sorted, kLoudShare);
  return levels;
}

}  // namespace

std::optional<double> decay_s(const Spectra& spectra, const std::vector<double>& noise) {
  const auto fit = static_cast<size_t>(std::llround(kFit_s / spectra.hop_s()));
  std::vector<BandLevels> bands;
  double loudest_db = decibels(kTiny);
  for (const Band band : bands_of(spectra)) {
    bands.push_back(levels_of(spectra, noise, band));
    loudest_db = std::max(loudest_db, bands.back().loud_db);
  }
  std::vector<double> slopes;  // dB per s
  for (const BandLevels& band : bands) {
    const double least_db = std::max(
        {band.loud_db - kBelowBand_db, loudest_db - kBelowAll_db, band.noise_db + kAboveNoise_db});
    for (size_t i = 0; i + fit <= band.db.size(); ++i) {
      if (band.db[i] < least_db) continue;
      slopes.push_back(slope_of(std::span(band.db).subspan(i, fit)) / spectra.hop_s());
    }
  }
  if (slopes.size() < kFewestDecays) return std::nullopt;
  std::ranges::sort(slopes);
  const double steepest = quantile(slopes, kSteepestShare);
  if (steepest >= 0) return std::nullopt;
  return -60 / steepest;
}

}  // namespace hum::pipeline
