#include "eval/metrics/stem_figures.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double energy_of(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return sum;
}

double product_of(std::span<const float> a, std::span<const float> b) {
  HUM_REQUIRE(a.size() == b.size(), "stem figures: {} samples against {}", a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double mean_square_dbfs(double energy, size_t samples) {
  return 10 * std::log10(energy / static_cast<double>(samples));
}

}  // namespace

double sdr_db(std::span<const float> reference, std::span<const float> estimate) {
  HUM_REQUIRE(reference.size() == estimate.size(), "sdr: {} samples against {}", reference.size(),
              estimate.size());
  double error = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double difference = static_cast<double>(reference[i]) - estimate[i];
    error += difference * difference;
  }
  const double energy = energy_of(reference);
  return energy == 0 ? kNan : 10 * std::log10(energy / error);
}

double level_dbfs(std::span<const float> samples) {
  return samples.empty() ? -std::numeric_limits<double>::infinity()
                         : mean_square_dbfs(energy_of(samples), samples.size());
}

double level_in_silence_dbfs(const AudioBuffer& reference, const AudioBuffer& estimate,
                             int64_t frame_samples) {
  HUM_REQUIRE(reference.samples.size() == estimate.samples.size() && frame_samples > 0,
              "level_in_silence: {} samples against {}", reference.samples.size(),
              estimate.samples.size());
  const auto frame =
      static_cast<size_t>(std::min(frame_samples, reference.frames()) * reference.channels);
  double energy = 0;
  size_t samples = 0;
  for (size_t at = 0; frame > 0 && at + frame <= reference.samples.size(); at += frame) {
    if (level_dbfs(std::span(reference.samples).subspan(at, frame)) >= kSilence_dbfs) continue;
    energy += energy_of(std::span(estimate.samples).subspan(at, frame));
    samples += frame;
  }
  return samples == 0 ? kNan : mean_square_dbfs(energy, samples);
}

Bleed::Bleed(std::span<const AudioBuffer> references)
    : references_(references), products_(references.size() * references.size()) {
  const size_t count = references.size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      products_[i * count + j] = products_[j * count + i] =
          product_of(references[i].samples, references[j].samples);
    }
  }
}

double Bleed::db(size_t stem, const AudioBuffer& estimate) const {
  const auto count = std::ssize(references_);
  const Eigen::Map<const MatrixXd> gram(products_.data(), count, count);
  VectorXd products(count);
  for (int64_t i = 0; i < count; ++i) {
    products[i] = product_of(references_[static_cast<size_t>(i)].samples, estimate.samples);
  }
  // Stems of unit energy, so that a quiet one counts as much as a loud one; 0 for a silent one.
  VectorXd scale(count);
  for (int64_t i = 0; i < count; ++i) scale[i] = gram(i, i) > 0 ? 1 / std::sqrt(gram(i, i)) : 0;
  const MatrixXd unit = scale.asDiagonal() * gram * scale.asDiagonal();
  const VectorXd right = scale.cwiseProduct(products);
  const VectorXd solution = unit.completeOrthogonalDecomposition().solve(right);
  VectorXd gains = scale.cwiseProduct(solution);
  VectorXd others = VectorXd::Ones(count);
  others[static_cast<int64_t>(stem)] = gains[static_cast<int64_t>(stem)] = 0;
  const double in_mixture = others.dot(gram * others), in_estimate = gains.dot(gram * gains);
  return in_mixture > 0 ? 10 * std::log10(std::max(0.0, in_estimate) / in_mixture) : kNan;
}

}  // namespace hum::eval
