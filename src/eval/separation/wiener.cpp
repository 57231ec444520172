// The multichannel Wiener filter of known stems (masks.h). In each bin of each frame, stem j has
// covariance p_j R_j: p_j its power there, R_j its spatial covariance in that bin over the whole
// sound. Its estimate is p_j R_j (sum of p_k R_k)^-1 x.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/threads.h"
#include "eval/separation/masks.h"
#include "eval/separation/spectra_impl.h"

namespace hum::eval {
namespace {

using audio::AudioBuffer;
using audio::Matrix;

constexpr int kMostChannels = 8;
using Covariance = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, 0,
                                 kMostChannels, kMostChannels>;
using Point = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, 1, 0, kMostChannels, 1>;

// Added to a power, and to the diagonal of a normalised covariance: a stem whose channels are alike
// has a singular one.
constexpr double kTiny = std::numeric_limits<double>::epsilon(), kRegular = 1e-9;

Point point_of(const Spectra& spectra, int64_t frame, int64_t bin) {
  Point point(static_cast<int64_t>(spectra.size()));
  for (size_t c = 0; c < spectra.size(); ++c) {
    point[static_cast<int64_t>(c)] = spectra[c](frame, bin);
  }
  return point;
}

void write(Spectra& spectra, int64_t frame, int64_t bin, const Point& point) {
  for (size_t c = 0; c < spectra.size(); ++c) {
    spectra[c](frame, bin) = std::complex<float>(point[static_cast<int64_t>(c)]);
  }
}

struct StemModel {
  Matrix<float> powers;             // [frames, bins]
  std::vector<Covariance> spatial;  // [bins]
};

// Bins that one thread takes at a time, which keeps its memory together.
constexpr int64_t kChunk = 64;

// Of the bins [first, last): sets the spatial covariances, the means of the observed ones, each
// divided by its power, with trace C. Then the powers.
void learn(const Spectra& spectra, int64_t first, int64_t last, StemModel& model) {
  const auto channels = static_cast<int64_t>(spectra.size());
  const auto count = static_cast<double>(channels);
  const auto spatial = std::span(model.spatial).subspan(static_cast<size_t>(first));
  for (int64_t frame = 0; frame < spectra[0].rows; ++frame) {
    for (int64_t bin = first; bin < last; ++bin) {
      const Point y = point_of(spectra, frame, bin);
      spatial[static_cast<size_t>(bin - first)] +=
          y * y.adjoint() / (kTiny + y.squaredNorm() / count);
    }
  }
  std::vector<Covariance> inverses;
  for (int64_t bin = first; bin < last; ++bin) {
    Covariance& sum = spatial[static_cast<size_t>(bin - first)];
    const double trace = sum.trace().real();
    if (trace > 0) sum *= count / trace;
    sum += kRegular * Covariance::Identity(channels, channels);
    inverses.emplace_back(sum.inverse());
  }
  for (int64_t frame = 0; frame < spectra[0].rows; ++frame) {
    for (int64_t bin = first; bin < last; ++bin) {
      const Point y = point_of(spectra, frame, bin);
      const Point turned = inverses[static_cast<size_t>(bin - first)] * y;
      model.powers(frame, bin) = static_cast<float>(y.dot(turned).real() / count);
    }
  }
}

StemModel model_of(const AudioBuffer& stem) {
  const Spectra spectra = spectra_of(stem);
  const int64_t frames = spectra[0].rows, bins = spectra[0].columns;
  const Covariance nothing = Covariance::Zero(stem.channels, stem.channels);
  StemModel model{Matrix<float>(frames, bins),
                  std::vector<Covariance>(static_cast<size_t>(bins), nothing)};
  parallel_for((bins + kChunk - 1) / kChunk, compute_threads(), [&](int64_t chunk) {
    learn(spectra, chunk * kChunk, std::min(bins, (chunk + 1) * kChunk), model);
  });
  return model;
}

// The mixture times the inverse of its covariance.
Spectra whitened(const Spectra& mixture, std::span<const StemModel> models) {
  Spectra result = mixture;
  const auto channels = static_cast<int64_t>(mixture.size());
  parallel_for(mixture[0].rows, compute_threads(), [&](int64_t frame) {
    for (int64_t bin = 0; bin < mixture[0].columns; ++bin) {
      Covariance whole = kTiny * Covariance::Identity(channels, channels);
      for (const StemModel& model : models) {
        const double power = model.powers(frame, bin);
        whole += power * model.spatial[static_cast<size_t>(bin)];
      }
      const Point x = point_of(mixture, frame, bin);
      const Point white = whole.llt().solve(x);
      write(result, frame, bin, white);
    }
  });
  return result;
}

}  // namespace

std::vector<AudioBuffer> ideal_wiener_filters(const AudioBuffer& mixture,
                                              std::span<const AudioBuffer> stems) {
  require_alike(mixture, stems);
  HUM_REQUIRE(mixture.channels <= kMostChannels, "wiener filter: {} channels, at most {}",
              mixture.channels, kMostChannels);
  std::vector<StemModel> models;
  for (const AudioBuffer& stem : stems) models.push_back(model_of(stem));
  const Spectra white = whitened(spectra_of(mixture), models);
  std::vector<AudioBuffer> estimates;
  for (const StemModel& model : models) {
    Spectra estimate = white;
    for (int64_t frame = 0; frame < white[0].rows; ++frame) {
      for (int64_t bin = 0; bin < white[0].columns; ++bin) {
        const double power = model.powers(frame, bin);
        const Point turned =
            power * (model.spatial[static_cast<size_t>(bin)] * point_of(white, frame, bin));
        write(estimate, frame, bin, turned);
      }
    }
    estimates.push_back(sound_of(estimate, mixture));
  }
  return estimates;
}

}  // namespace hum::eval
