#include "audio/pitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::audio {
namespace {

// The next even number without prime factors above 5: kissfft is fast there.
int fast_fft_size(int size) {
  for (int candidate = size + size % 2;; candidate += 2) {
    int rest = candidate;
    for (const int prime : {2, 3, 5}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return candidate;
  }
}

class Yin {
 public:
  Yin(int rate_hz, const YinOptions& options)
      : rate_hz_(rate_hz),
        threshold_(options.trough_threshold),
        min_period_(static_cast<int>(std::floor(rate_hz / options.max_hz))),
        max_period_(std::min(static_cast<int>(std::ceil(rate_hz / options.min_hz)),
                             options.window_samples - 1)),
        fft_(fast_fft_size(options.window_samples + max_period_ + 1)),
        padded_(static_cast<size_t>(fft_.size())),
        correlation_(static_cast<size_t>(fft_.size())),
        spectrum_(static_cast<size_t>(fft_.bins())),
        difference_(static_cast<size_t>(max_period_ + 1)) {
    HUM_REQUIRE(options.min_hz > 0 && options.max_hz > options.min_hz && min_period_ >= 1 &&
                    max_period_ > min_period_ + 1,
                "yin: cannot search {} to {} Hz at {} Hz with {} samples", options.min_hz,
                options.max_hz, rate_hz, options.window_samples);
  }

  struct Pitch {
    double hz, aperiodicity, rms;
  };

  Pitch operator()(std::span<const float> frame) {
    measure_difference(frame);
    const double rms = std::sqrt(energy_ / static_cast<double>(frame.size()));
    if (energy_ == 0) return {rate_hz_ / min_period_, 1, 0};
    const int period = find_period();
    const double depth = difference_[static_cast<size_t>(period)];
    return {rate_hz_ / (period + parabolic_shift(period)), depth, rms};
  }

 private:
  // Cumulative mean normalised difference of each lag (equation 8); only lags from min_period are
  // used.
  void measure_difference(std::span<const float> frame) {
    energy_ = 0;
    for (const float sample : frame) energy_ += static_cast<double>(sample) * sample;
    std::ranges::fill(padded_, 0.0f);
    std::ranges::copy(frame, padded_.begin());
    fft_.forward(padded_, spectrum_);
    for (auto& bin : spectrum_) bin = std::norm(bin);
    fft_.inverse(spectrum_, correlation_);
    double head_energy = 0, sum = 0;
    for (int lag = 1; lag <= max_period_; ++lag) {
      const double left_out = frame[static_cast<size_t>(lag - 1)];
      head_energy += left_out * left_out;
      const double lagged = correlation_[static_cast<size_t>(lag)];
      const double difference = 2 * (energy_ - lagged) - head_energy;
      sum += difference;
      difference_[static_cast<size_t>(lag)] =
          difference / (sum / lag + std::numeric_limits<float>::min());
    }
  }

  bool is_trough(int lag) const {
    const double* d = difference_.data() + lag;
    if (lag == min_period_) return d[0] < d[1];
    return d[0] < d[-1] && (lag == max_period_ || d[0] <= d[1]);
  }

  int find_period() const {
    int deepest = min_period_;
    for (int lag = min_period_; lag <= max_period_; ++lag) {
      const double depth = difference_[static_cast<size_t>(lag)];
      if (depth < threshold_ && is_trough(lag)) return lag;
      if (depth < difference_[static_cast<size_t>(deepest)]) deepest = lag;
    }
    return deepest;
  }

  double parabolic_shift(int lag) const {
    if (lag == min_period_ || lag == max_period_) return 0;
    const double* d = difference_.data() + lag;
    const double curvature = d[1] + d[-1] - 2 * d[0];
    const double slope = (d[1] - d[-1]) / 2;
    return std::abs(slope) >= std::abs(curvature) ? 0 : -slope / curvature;
  }

  double rate_hz_, threshold_;
  int min_period_, max_period_;
  RealFft fft_;
  double energy_ = 0;  // of the frame
  std::vector<float> padded_, correlation_;
  std::vector<std::complex<float>> spectrum_;
  std::vector<double> difference_;
};

}  // namespace

PitchTrack yin(std::span<const float> samples, int rate_hz, const YinOptions& options) {
  const auto window = static_cast<size_t>(options.window_samples);
  const auto hop = static_cast<size_t>(options.hop_samples);
  HUM_REQUIRE(options.window_samples > 0 && window % 2 == 0 && options.hop_samples > 0,
              "yin: window {} and hop {} samples", options.window_samples, options.hop_samples);
  Yin pitch_of(rate_hz, options);
  std::vector<float> padded(samples.size() + window);
  std::ranges::copy(samples, padded.begin() + static_cast<std::ptrdiff_t>(window / 2));
  PitchTrack track{static_cast<double>(hop) / rate_hz, {}, {}, {}};
  for (size_t start = 0; start + window <= padded.size(); start += hop) {
    const auto [hz, aperiodicity, rms] = pitch_of(std::span(padded).subspan(start, window));
    track.hz.push_back(hz);
    track.aperiodicity.push_back(aperiodicity);
    track.rms.push_back(rms);
  }
  return track;
}

}  // namespace hum::audio
