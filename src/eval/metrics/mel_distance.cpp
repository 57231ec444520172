#include "eval/metrics/mel_distance.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::eval {
namespace {

constexpr float kFloor = -3;           // -60 dB
constexpr float kSmallestFloor = -10;  // for silence

// Mean |difference| of two logarithms, each with its gain. `a` is the reference.
double floored_distance(const audio::Matrix<float>& a, float gain_a, const audio::Matrix<float>& b,
                        float gain_b) {
  HUM_CHECK(a.values.size() == b.values.size());
  if (a.values.empty()) return 0;
  const float floor = std::max(kSmallestFloor, kFloor + std::ranges::max(a.values) + gain_a);
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    sum += std::abs(std::max(floor, a.values[i] + gain_a) - std::max(floor, b.values[i] + gain_b));
  }
  return sum / static_cast<double>(a.values.size());
}

}  // namespace

double mel_distance(const Spectra& reference, const Spectra& estimate) {
  double sum = 0;
  for (size_t scale = 0; scale < kDacMelScales.size(); ++scale) {
    sum += floored_distance(reference.log_mel[scale], reference.log_gain, estimate.log_mel[scale],
                            estimate.log_gain);
  }
  return sum / static_cast<double>(kDacMelScales.size());
}

double mel_distance(std::span<const float> reference, std::span<const float> estimate,
                    int rate_hz) {
  const size_t samples = std::min(reference.size(), estimate.size());
  return mel_distance(spectra_of(reference.first(samples), rate_hz),
                      spectra_of(estimate.first(samples), rate_hz));
}

double stft_distance(const Spectra& reference, const Spectra& estimate) {
  double sum = 0;
  for (size_t table = 0; table < kTableScales; ++table) {
    sum += floored_distance(reference.bins[table].log, reference.log_gain, estimate.bins[table].log,
                            estimate.log_gain);
  }
  return sum / kTableScales;
}

}  // namespace hum::eval
