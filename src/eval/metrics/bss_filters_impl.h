// Least squares on delayed signals, for bss_eval.cpp alone: correlations by FFT, their Cholesky
// factors, and the filters that bring references nearest to an estimate. Double precision.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "audio/buffer.h"

namespace hum::eval {

// A filter's taps: delays from 0 to kReach samples.
inline constexpr int64_t kTaps = 512, kReach = kTaps - 1;

using Spectrum = Eigen::ArrayXcd;

// One channel of a sound.
struct Signal {
  const audio::AudioBuffer* sound = nullptr;
  int channel = 0;

  // Zero outside the sound.
  double at(int64_t frame) const {
    if (frame < 0 || frame >= sound->frames()) return 0;
    return sound->samples[static_cast<size_t>(frame * sound->channels + channel)];
  }
};
using Signals = std::vector<Signal>;

// The FFT of real signals in double precision. Not thread-safe.
class WideFft {
 public:
  // A multiple of 4.
  explicit WideFft(int64_t size);
  ~WideFft();
  WideFft(const WideFft&) = delete;
  WideFft& operator=(const WideFft&) = delete;
  // A size of at least `samples` that is quickly computed.
  static int64_t good_size(int64_t samples);

  int64_t bins() const { return size_ / 2 + 1; }
  // Samples [first, last) of the signal, in a window that begins at sample `origin`.
  Spectrum forward(const Signal& signal, int64_t first, int64_t last, int64_t origin);
  // Padded with zeros.
  Spectrum forward(const Eigen::Ref<const Eigen::VectorXd>& samples);
  Eigen::ArrayXd inverse(const Spectrum& spectrum);

 private:
  struct Plans;
  Spectrum transformed();

  int64_t size_;
  Eigen::ArrayXd window_;
  std::unique_ptr<Plans> plans_;
};

// Sums over n of u[n] v[n + lag] for pairs of signals.
class Correlations {
 public:
  // Of the signals with each other.
  Correlations(const Signals& signals, int64_t samples, int threads)
      : Correlations(signals, signals, true, samples, threads) {}
  Correlations(const Signals& left, const Signals& right, int64_t samples, int threads)
      : Correlations(left, right, false, samples, threads) {}

  // Shapes: [2 kReach + 1], lag 0 in the middle. Of signals with each other: u <= v.
  const Eigen::ArrayXd& lags(size_t u, size_t v) const { return lags_[u * right_count_ + v]; }

 private:
  Correlations(const Signals& left, const Signals& right, bool is_same, int64_t samples,
               int threads);

  size_t right_count_;
  std::vector<Eigen::ArrayXd> lags_;
};

// The lower Cholesky factor of the inner products of the signals [first, last), each with all its
// delays. A ridge is added if delayed signals depend on each other.
// Shapes: [n, n], n = signals * kTaps; the upper triangle is undefined.
Eigen::MatrixXd factor_of(const Correlations& correlations, size_t first, size_t last);

// The products of delayed signals [first, first + count) with `targets` signals from `target` on.
// Shapes: [count * kTaps, targets].
Eigen::MatrixXd products_of(const Correlations& correlations, size_t first, size_t count,
                            size_t target, size_t targets);

// The spectra of the filters whose sum over the signals is nearest to each target.
// Shapes: factor [n, n], products [n, targets] -> [signals, targets].
std::vector<Spectrum> best_filters(const Eigen::MatrixXd& factor, Eigen::MatrixXd products,
                                   WideFft& fft);

}  // namespace hum::eval
