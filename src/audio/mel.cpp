#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/dsp.h"
#include "base/error.h"

namespace hum::audio {
namespace {

// Slaney's scale: linear below 1 kHz, then 27 steps per factor of 6.4.
constexpr double kLinearHzPerMel = 200.0 / 3;
constexpr double kLogStartHz = 1000;
constexpr double kLogStartMel = kLogStartHz / kLinearHzPerMel;
const double kLogStep = std::log(6.4) / 27;

double hz_to_mel(double hz, MelScale scale) {
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + hz / 700);
  if (hz < kLogStartHz) return hz / kLinearHzPerMel;
  return kLogStartMel + std::log(hz / kLogStartHz) / kLogStep;
}

double mel_to_hz(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  if (mel < kLogStartMel) return mel * kLinearHzPerMel;
  return kLogStartHz * std::exp(kLogStep * (mel - kLogStartMel));
}

MelBand make_band(double low_hz, double center_hz, double high_hz, double bin_hz, int bins,
                  bool normalised) {
  MelBand band;
  band.first_bin = std::clamp(static_cast<int>(std::floor(low_hz / bin_hz)), 0, bins - 1);
  const int last_bin = std::clamp(static_cast<int>(std::ceil(high_hz / bin_hz)), 0, bins - 1);
  const double height = normalised ? 2 / (high_hz - low_hz) : 1;
  for (int bin = band.first_bin; bin <= last_bin; ++bin) {
    const double hz = bin * bin_hz;
    const double rising = (hz - low_hz) / (center_hz - low_hz);
    const double falling = (high_hz - hz) / (high_hz - center_hz);
    band.weights.push_back(static_cast<float>(height * std::max(0.0, std::min(rising, falling))));
  }
  return band;
}

}  // namespace

std::vector<MelBand> mel_bands(int rate_hz, int window_samples, const MelOptions& options) {
  const double high_hz = options.high_hz > 0 ? options.high_hz : rate_hz / 2.0;
  HUM_REQUIRE(options.bands > 0 && options.low_hz >= 0 && options.low_hz < high_hz,
              "mel: {} bands from {} to {} Hz", options.bands, options.low_hz, high_hz);
  const double low_mel = hz_to_mel(options.low_hz, options.scale);
  const double high_mel = hz_to_mel(high_hz, options.scale);
  const auto edge_hz = [&](int i) {
    return mel_to_hz(low_mel + (high_mel - low_mel) * i / (options.bands + 1), options.scale);
  };
  const double bin_hz = static_cast<double>(rate_hz) / window_samples;
  std::vector<MelBand> bands;
  for (int i = 0; i < options.bands; ++i) {
    bands.push_back(make_band(edge_hz(i), edge_hz(i + 1), edge_hz(i + 2), bin_hz,
                              window_samples / 2 + 1, options.normalised));
  }
  return bands;
}

Matrix<float> apply_mel(const Matrix<float>& spectrogram, std::span<const MelBand> bands) {
  Matrix<float> result(spectrogram.rows, static_cast<int64_t>(bands.size()));
  for (int64_t t = 0; t < result.rows; ++t) {
    for (size_t m = 0; m < bands.size(); ++m) {
      const float* bins = spectrogram.row(t).data() + bands[m].first_bin;
      float sum = 0;
      for (size_t i = 0; i < bands[m].weights.size(); ++i) sum += bins[i] * bands[m].weights[i];
      result(t, static_cast<int64_t>(m)) = sum;
    }
  }
  return result;
}

Matrix<float> mel_spectrogram(std::span<const float> samples, int rate_hz,
                              const StftOptions& stft_options, const MelOptions& mel_options,
                              double power) {
  return apply_mel(spectrogram(samples, stft_options, power),
                   mel_bands(rate_hz, stft_options.window_samples, mel_options));
}

void power_to_db(Matrix<float>& power, double range_db) {
  constexpr float kSmallestPower = 1e-10F;
  if (power.values.empty()) return;
  for (float& value : power.values) value = 10 * std::log10(std::max(value, kSmallestPower));
  const float floor_db = std::ranges::max(power.values) - static_cast<float>(range_db);
  for (float& value : power.values) value = std::max(value, floor_db);
}

Matrix<float> mfcc(std::span<const float> samples, int rate_hz, const MfccOptions& options) {
  HUM_REQUIRE(options.coefficients > 0 && options.coefficients <= options.mel.bands,
              "mfcc: {} coefficients of {} bands", options.coefficients, options.mel.bands);
  Matrix<float> mel = mel_spectrogram(samples, rate_hz, options.stft, options.mel, 2);
  power_to_db(mel, options.range_db);
  const int64_t bands = mel.columns;
  Matrix<float> basis(options.coefficients, bands);
  for (int64_t k = 0; k < basis.rows; ++k) {
    const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(bands));
    for (int64_t m = 0; m < bands; ++m) {
      basis(k, m) = static_cast<float>(
          scale * std::cos(std::numbers::pi * static_cast<double>(k * (2 * m + 1)) /
                           static_cast<double>(2 * bands)));
    }
  }
  Matrix<float> result(mel.rows, options.coefficients);
  for (int64_t t = 0; t < result.rows; ++t) {
    for (int64_t k = 0; k < result.columns; ++k) {
      float sum = 0;
      for (int64_t m = 0; m < bands; ++m) sum += mel(t, m) * basis(k, m);
      result(t, k) = sum;
    }
  }
  return result;
}

}  // namespace hum::audio
