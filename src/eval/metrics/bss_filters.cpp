#include <Eigen/Cholesky>
#include <complex>
#include <limits>
#include <unsupported/Eigen/FFT>

#include "base/error.h"
#include "base/threads.h"
#include "eval/metrics/bss_filters_impl.h"

namespace hum::eval {
namespace {

using Eigen::ArrayXd;
using Eigen::MatrixXd;

// Correlations are computed in blocks with kReach samples around them.
constexpr int64_t kWindow = 8192, kBlock = kWindow - 2 * kReach;
// The share of a delayed signal that the ones before it must leave unexplained; if they leave less,
// the correlation of each with itself grows by the ridge.
constexpr double kLeastPivot = 1e-13, kRidge = 1e-10;

// The spectra of lags, from every `step`th block from `block` on. Shapes: [left, right].
std::vector<Spectrum> sum_of_blocks(const Signals& left, const Signals& right, bool is_same,
                                    int64_t samples, int64_t block, int64_t step) {
  WideFft fft(kWindow);
  std::vector<Spectrum> sums(left.size() * right.size()), blocks(left.size());
  const auto count_for = [&](size_t v) { return is_same ? v + 1 : left.size(); };
  for (size_t v = 0; v < right.size(); ++v) {
    for (size_t u = 0; u < count_for(v); ++u) {
      sums[u * right.size() + v] = Spectrum::Zero(fft.bins());
    }
  }
  for (int64_t first = block * kBlock; first < samples; first += step * kBlock) {
    const int64_t last = first + kBlock, origin = first - kReach;
    for (size_t u = 0; u < left.size(); ++u) {
      blocks[u] = fft.forward(left[u], first, last, origin);
    }
    for (size_t v = 0; v < right.size(); ++v) {
      const Spectrum around = fft.forward(right[v], origin, last + kReach, origin);
      for (size_t u = 0; u < count_for(v); ++u) {
        sums[u * right.size() + v] += blocks[u].conjugate() * around;
      }
    }
  }
  return sums;
}

// The lower triangle of the inner products of delayed signals.
MatrixXd gram_of(const Correlations& correlations, size_t first, size_t last) {
  const auto count = static_cast<int64_t>(last - first);
  MatrixXd gram(count * kTaps, count * kTaps);
  for (int64_t v = 0; v < count; ++v) {
    for (int64_t u = v; u < count; ++u) {
      const ArrayXd& lags =
          correlations.lags(first + static_cast<size_t>(v), first + static_cast<size_t>(u));
      for (int64_t delay = 0; delay < kTaps; ++delay) {
        gram.block(u * kTaps, v * kTaps + delay, kTaps, 1) =
            lags.segment(delay, kTaps).reverse().matrix();
      }
    }
  }
  return gram;
}

}  // namespace

struct WideFft::Plans {
  Eigen::FFT<double> fft;
};

WideFft::WideFft(int64_t size) : size_(size), window_(size), plans_(std::make_unique<Plans>()) {
  HUM_CHECK(size > 0 && size % 4 == 0, "fft of {} samples", size);
  plans_->fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
}

WideFft::~WideFft() = default;

int64_t WideFft::good_size(int64_t samples) {
  for (int64_t size = (samples + 3) / 4 * 4;; size += 4) {
    int64_t rest = size;
    for (const int64_t factor : {2, 3, 5}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return size;
  }
}

Spectrum WideFft::forward(const Signal& signal, int64_t first, int64_t last, int64_t origin) {
  window_.setZero();
  for (int64_t i = first; i < last; ++i) window_[i - origin] = signal.at(i);
  return transformed();
}

Spectrum WideFft::forward(const Eigen::Ref<const Eigen::VectorXd>& samples) {
  window_.setZero();
  window_.head(samples.size()) = samples.array();
  return transformed();
}

Spectrum WideFft::transformed() {
  Spectrum spectrum(bins());
  plans_->fft.fwd(spectrum.data(), window_.data(), size_);
  return spectrum;
}

ArrayXd WideFft::inverse(const Spectrum& spectrum) {
  ArrayXd samples(size_);
  plans_->fft.inv(samples.data(), spectrum.data(), size_);
  return samples;
}

Correlations::Correlations(const Signals& left, const Signals& right, bool is_same, int64_t samples,
                           int threads)
    : right_count_(right.size()), lags_(left.size() * right.size()) {
  std::vector<std::vector<Spectrum>> sums(static_cast<size_t>(threads));
  parallel_for(threads, threads, [&](int64_t worker) {
    sums[static_cast<size_t>(worker)] =
        sum_of_blocks(left, right, is_same, samples, worker, threads);
  });
  WideFft fft(kWindow);
  for (size_t pair = 0; pair < lags_.size(); ++pair) {
    Spectrum& sum = sums[0][pair];
    if (sum.size() == 0) continue;
    for (size_t worker = 1; worker < sums.size(); ++worker) sum += sums[worker][pair];
    const ArrayXd lags = fft.inverse(sum);
    lags_[pair].resize(2 * kReach + 1);
    lags_[pair] << lags.tail(kReach), lags.head(kTaps);
  }
}

MatrixXd factor_of(const Correlations& correlations, size_t first, size_t last) {
  for (const double ridge : {0.0, kRidge}) {
    MatrixXd gram = gram_of(correlations, first, last);
    const ArrayXd own = gram.diagonal().array();
    gram.diagonal().array() += std::numeric_limits<double>::epsilon() + ridge * own;
    const Eigen::LLT<Eigen::Ref<MatrixXd>> factor(gram);  // overwrites the lower triangle
    if (factor.info() == Eigen::Success &&
        (gram.diagonal().array().square() >= kLeastPivot * own).all()) {
      return gram;
    }
  }
  HUM_CHECK(false, "the correlations of {} signals have no factor", last - first);
  return {};
}

MatrixXd products_of(const Correlations& correlations, size_t first, size_t count, size_t target,
                     size_t targets) {
  MatrixXd products(static_cast<int64_t>(count) * kTaps, static_cast<int64_t>(targets));
  for (size_t u = 0; u < count; ++u) {
    for (size_t v = 0; v < targets; ++v) {
      products.block(static_cast<int64_t>(u) * kTaps, static_cast<int64_t>(v), kTaps, 1) =
          correlations.lags(first + u, target + v).tail(kTaps).matrix();
    }
  }
  return products;
}

std::vector<Spectrum> best_filters(const MatrixXd& factor, MatrixXd products, WideFft& fft) {
  const auto lower = factor.triangularView<Eigen::Lower>();
  lower.solveInPlace(products);
  lower.adjoint().solveInPlace(products);
  std::vector<Spectrum> spectra;
  for (int64_t u = 0; u < products.rows() / kTaps; ++u) {
    for (int64_t target = 0; target < products.cols(); ++target) {
      spectra.push_back(fft.forward(products.col(target).segment(u * kTaps, kTaps)));
    }
  }
  return spectra;
}

}  // namespace hum::eval
