#include <cmath>
#include <numbers>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::audio {
namespace {

void check(const StftOptions& options) {
  HUM_REQUIRE(options.window_samples >= 2 && options.window_samples % 2 == 0,
              "stft: window must be even and positive, got {}", options.window_samples);
  HUM_REQUIRE(options.hop_samples >= 1, "stft: hop must be positive, got {}", options.hop_samples);
}

// Where a position outside [0, size) lands when the signal is mirrored at its first and last
// sample.
int64_t reflect(int64_t position, int64_t size) {
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  const int64_t folded = ((position % period) + period) % period;
  return folded < size ? folded : period - folded;
}

std::vector<float> pad(std::span<const float> samples, int64_t each_side, Padding padding) {
  const auto size = static_cast<int64_t>(samples.size());
  std::vector<float> padded(static_cast<size_t>(size + 2 * each_side));
  std::copy(samples.begin(), samples.end(), padded.begin() + each_side);
  if (padding == Padding::kZero || size == 0) return padded;
  for (int64_t i = 0; i < each_side; ++i) {
    padded[static_cast<size_t>(i)] = samples[static_cast<size_t>(reflect(i - each_side, size))];
    padded[static_cast<size_t>(size + each_side + i)] =
        samples[static_cast<size_t>(reflect(size + i, size))];
  }
  return padded;
}

}  // namespace

std::vector<float> hann_window(int samples) {
  std::vector<float> window(static_cast<size_t>(samples));
  for (int i = 0; i < samples; ++i) {
    window[static_cast<size_t>(i)] =
        static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / samples));
  }
  return window;
}

Matrix<std::complex<float>> stft(std::span<const float> samples, const StftOptions& options) {
  check(options);
  const int64_t window_samples = options.window_samples, hop_samples = options.hop_samples;
  std::vector<float> padded;
  if (options.centered) {
    padded = pad(samples, window_samples / 2, options.padding);
    samples = padded;
  }
  const int64_t extra = static_cast<int64_t>(samples.size()) - window_samples;
  const int64_t frames = extra < 0 ? 0 : 1 + extra / hop_samples;
  RealFft fft(options.window_samples);
  const std::vector<float> window = hann_window(options.window_samples);
  std::vector<float> frame(window.size());
  Matrix<std::complex<float>> result(frames, fft.bins());
  for (int64_t t = 0; t < frames; ++t) {
    const float* source = samples.data() + t * hop_samples;
    for (size_t i = 0; i < frame.size(); ++i) frame[i] = source[i] * window[i];
    fft.forward(frame, result.row(t));
  }
  return result;
}

std::vector<float> istft(const Matrix<std::complex<float>>& spectrum, int64_t samples,
                         const StftOptions& options) {
  check(options);
  HUM_REQUIRE(spectrum.columns == options.window_samples / 2 + 1,
              "istft: {} bins do not match a window of {} samples", spectrum.columns,
              options.window_samples);
  const int64_t window_samples = options.window_samples, hop_samples = options.hop_samples;
  const int64_t offset = options.centered ? window_samples / 2 : 0;
  const int64_t covered =
      spectrum.rows == 0 ? 0 : (spectrum.rows - 1) * hop_samples + window_samples;
  const auto total = static_cast<size_t>(std::max(covered, samples + offset));
  std::vector<float> sum(total), weight(total);
  RealFft fft(options.window_samples);
  const std::vector<float> window = hann_window(options.window_samples);
  std::vector<float> frame(window.size());
  for (int64_t t = 0; t < spectrum.rows; ++t) {
    fft.inverse(spectrum.row(t), frame);
    float* target = sum.data() + t * hop_samples;
    float* target_weight = weight.data() + t * hop_samples;
    for (size_t i = 0; i < frame.size(); ++i) {
      target[i] += frame[i] * window[i];
      target_weight[i] += window[i] * window[i];
    }
  }
  constexpr float kTiny = 1e-11f;
  std::vector<float> result(static_cast<size_t>(samples));
  for (size_t i = 0; i < result.size(); ++i) {
    const size_t j = i + static_cast<size_t>(offset);
    result[i] = weight[j] > kTiny ? sum[j] / weight[j] : sum[j];
  }
  return result;
}

Matrix<float> spectrogram(std::span<const float> samples, const StftOptions& options,
                          double power) {
  HUM_REQUIRE(power == 1 || power == 2, "spectrogram: power must be 1 or 2, got {}", power);
  const auto spectrum = stft(samples, options);
  Matrix<float> result(spectrum.rows, spectrum.columns);
  for (size_t i = 0; i < result.values.size(); ++i) {
    const float squared = std::norm(spectrum.values[i]);
    result.values[i] = power == 2 ? squared : std::sqrt(squared);
  }
  return result;
}

}  // namespace hum::audio
