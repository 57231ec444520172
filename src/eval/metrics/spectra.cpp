#include "eval/metrics/spectra.h"

#include <cmath>

#include "audio/loudness.h"

namespace hum::eval {
namespace {

constexpr double kTargetLufs = -16;
constexpr std::array<std::pair<int, int>, kTableScales> kTables{{{2048, 150}, {512, 80}}};

float log_gain(std::span<const float> samples, int rate_hz) {
  const double lufs = audio::integrated_lufs(samples, rate_hz);
  return std::isfinite(lufs) ? static_cast<float>((kTargetLufs - lufs) / 20) : 0;
}

audio::Matrix<float> log_of(audio::Matrix<float> magnitudes) {
  for (float& value : magnitudes.values) value = std::log10(value);
  return magnitudes;
}

Spectra::Magnitudes with_log(const audio::Matrix<float>& linear) {
  return {linear, log_of(linear)};
}

audio::Matrix<float> in_bands(const audio::Matrix<float>& bins, int rate_hz, int window_samples,
                              int bands) {
  return audio::apply_mel(bins, audio::mel_bands(rate_hz, window_samples, {.bands = bands}));
}

}  // namespace

Spectra spectra_of(std::span<const float> samples, int rate_hz) {
  Spectra spectra{.log_gain = log_gain(samples, rate_hz)};
  for (size_t scale = 0; scale < kDacMelScales.size(); ++scale) {
    const auto [window_samples, bands] = kDacMelScales[scale];
    const auto bins = audio::spectrogram(samples,
                                         {.window_samples = window_samples,
                                          .hop_samples = window_samples / 4,
                                          .padding = audio::Padding::kReflect},
                                         1);
    spectra.log_mel[scale] = log_of(in_bands(bins, rate_hz, window_samples, bands));
    for (size_t table = 0; table < kTableScales; ++table) {
      if (kTables[table].first != window_samples) continue;
      spectra.bins[table] = with_log(bins);
      spectra.bands[table] =
          with_log(in_bands(bins, rate_hz, window_samples, kTables[table].second));
    }
  }
  return spectra;
}

}  // namespace hum::eval
