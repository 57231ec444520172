#include "eval/metrics/envelope.h"

#include <algorithm>
#include <cmath>

namespace hum::eval {
namespace {

constexpr double kFloorDb = -60;

}  // namespace

std::vector<double> loudness_envelope_db(std::span<const float> samples, int rate_hz) {
  const auto hop = static_cast<size_t>(kEnvelopeHop_s * rate_hz);
  std::vector<double> powers;
  for (size_t start = 0; start + 2 * hop <= samples.size(); start += hop) {
    double sum = 0;
    for (const float sample : samples.subspan(start, 2 * hop)) {
      sum += static_cast<double>(sample) * sample;
    }
    powers.push_back(sum / static_cast<double>(2 * hop));
  }
  const double loudest = powers.empty() ? 0 : std::ranges::max(powers);
  if (loudest == 0) return {};
  const double floor = loudest * std::pow(10, kFloorDb / 10);
  for (double& power : powers) power = 10 * std::log10(std::max(power, floor));
  return powers;
}

double envelope_correlation(std::span<const float> reference, std::span<const float> estimate,
                            int rate_hz) {
  const auto a = loudness_envelope_db(reference, rate_hz);
  const auto b = loudness_envelope_db(estimate, rate_hz);
  const size_t frames = std::min(a.size(), b.size());
  if (frames == 0) return 0;
  double mean_a = 0, mean_b = 0;
  for (size_t i = 0; i < frames; ++i) {
    mean_a += a[i] / static_cast<double>(frames);
    mean_b += b[i] / static_cast<double>(frames);
  }
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < frames; ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  constexpr double kConstant = 1e-9;
  return aa < kConstant || bb < kConstant ? 0 : ab / std::sqrt(aa * bb);
}

}  // namespace hum::eval
