#include "eval/metrics/si_sdr.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace hum::eval {
namespace {

double mean_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += sample;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace

double si_sdr_db(std::span<const float> reference, std::span<const float> estimate, Mean mean) {
  HUM_REQUIRE(reference.size() == estimate.size(), "si_sdr: {} samples against {}",
              reference.size(), estimate.size());
  const double reference_mean = mean == Mean::kRemove ? mean_of(reference) : 0;
  const double estimate_mean = mean == Mean::kRemove ? mean_of(estimate) : 0;
  double energy = 0, product = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double s = reference[i] - reference_mean;
    energy += s * s;
    product += s * (estimate[i] - estimate_mean);
  }
  if (energy == 0 || product == 0) return -std::numeric_limits<double>::infinity();
  const double scale = product / energy;
  double distortion = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double error = (estimate[i] - estimate_mean) - scale * (reference[i] - reference_mean);
    distortion += error * error;
  }
  return 10 * std::log10(scale * scale * energy / distortion);
}

}  // namespace hum::eval
