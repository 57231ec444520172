#include "eval/metrics/dac_losses.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::eval {
namespace {

constexpr float kLogClamp = -5;

// Mean |difference| of the logarithms, clamped.
double log_loss(const audio::Matrix<float>& a, const audio::Matrix<float>& b) {
  HUM_CHECK(a.values.size() == b.values.size());
  if (a.values.empty()) return 0;
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum += std::abs(std::max(a.values[i], kLogClamp) - std::max(b.values[i], kLogClamp));
  }
  return sum / static_cast<double>(a.values.size());
}

double linear_loss(const audio::Matrix<float>& a, const audio::Matrix<float>& b) {
  if (a.values.empty()) return 0;
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) sum += std::abs(a.values[i] - b.values[i]);
  return sum / static_cast<double>(a.values.size());
}

using Tables = std::array<Spectra::Magnitudes, kTableScales>;

// A log of squares is twice the log.
double table_loss(const Tables& a, const Tables& b) {
  double sum = 0;
  for (size_t table = 0; table < kTableScales; ++table) {
    sum += 2 * log_loss(a[table].log, b[table].log) + linear_loss(a[table].linear, b[table].linear);
  }
  return sum;
}

}  // namespace

double dac_training_mel(const Spectra& reference, const Spectra& estimate) {
  double sum = 0;
  for (size_t scale = 0; scale < kDacMelScales.size(); ++scale) {
    sum += log_loss(reference.log_mel[scale], estimate.log_mel[scale]);
  }
  return sum;
}

double dac_mel(const Spectra& reference, const Spectra& estimate) {
  return table_loss(reference.bands, estimate.bands);
}

double dac_stft(const Spectra& reference, const Spectra& estimate) {
  return table_loss(reference.bins, estimate.bins);
}

}  // namespace hum::eval
