#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/rotary/rotary.h"

namespace hum::nn {

using graph::convert;
using graph::DType;
using graph::Value;

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double llama3_rate(double rate, const RopeScaling& s) {
  const double turns = static_cast<double>(s.original_positions) * rate / kTurn;
  if (turns > s.high_frequency_factor) return rate;
  if (turns < s.low_frequency_factor) return rate / s.factor;
  const double kept =
      (turns - s.low_frequency_factor) / (s.high_frequency_factor - s.low_frequency_factor);
  return (1 - kept) * rate / s.factor + kept * rate;
}

// Weight of the slowed rate, per pair.
std::vector<double> yarn_ramp(int64_t rotated, double theta, const RopeScaling& s) {
  // The pair that completes `turns` turns over the original positions.
  auto pair_of = [&](double turns) {
    return static_cast<double>(rotated) *
           std::log(static_cast<double>(s.original_positions) / (turns * kTurn)) /
           (2 * std::log(theta));
  };
  double low = pair_of(s.beta_fast), high = pair_of(s.beta_slow);
  if (s.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(rotated - 1));
  if (low == high) high += 0.001;  // as in the reference, against 0 / 0
  std::vector<double> ramp;
  for (int64_t i = 0; i < rotated / 2; ++i) {
    ramp.push_back(std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
  }
  return ramp;
}

}  // namespace

RopeRates rope_rates(int64_t rotated, double theta, const RopeScaling& s) {
  HUM_REQUIRE(rotated > 0 && rotated % 2 == 0 && theta > 0 && s.factor > 0,
              "rope: {} rotated elements, theta {}, factor {}", rotated, theta, s.factor);
  const std::vector<double> ramp =
      s.kind == RopeStretch::kYarn ? yarn_ramp(rotated, theta, s) : std::vector<double>();
  RopeRates result;
  for (int64_t i = 0; i < rotated / 2; ++i) {
    double rate = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotated));
    switch (s.kind) {
      case RopeStretch::kNone:
        break;
      case RopeStretch::kLinear:
        rate /= s.factor;
        break;
      case RopeStretch::kLlama3:
        rate = llama3_rate(rate, s);
        break;
      case RopeStretch::kYarn:
        rate *= 1 - ramp[static_cast<size_t>(i)] * (1 - 1 / s.factor);
        break;
    }
    result.rates.push_back(static_cast<float>(rate));
  }
  if (s.kind == RopeStretch::kYarn) {
    const double by_factor = s.factor > 1 ? 0.1 * std::log(s.factor) + 1 : 1;
    result.magnitude = s.attention_factor > 0 ? s.attention_factor : by_factor;
  }
  return result;
}

Value rotary_waves(const Value& positions_T, const RopeRates& rope) {
  const auto half = static_cast<int64_t>(rope.rates.size());
  const Value rates = graph::constant(std::span<const float>(rope.rates), {half});
  const Value angles =
      graph::reshape(convert(positions_T, DType::kF32), {positions_T.size(0), 1, 1}) * rates;
  const Value waves =
      graph::concatenate(graph::Values{graph::cosine(angles), graph::sine(angles)}, 1);
  return rope.magnitude == 1 ? waves : waves * rope.magnitude;
}

Value rotate(const Value& x_BTGMd, int64_t members, const Value& positions_T,
             const RopeRates& rope) {
  return kernels::rotate_heads(x_BTGMd, rotary_waves(positions_T, rope), members);
}

}  // namespace hum::nn
