#include "pipeline/sound_quality/spectra.h"

#include <cmath>

namespace hum::pipeline {

Spectra spectra_of(std::span<const float> samples, int window_samples, int hop_samples) {
  Spectra spectra{
      audio::spectrogram(
          samples,
          {.window_samples = window_samples, .hop_samples = hop_samples, .centered = false}, 2),
      window_samples, hop_samples};
  // Both halves of the spectrum; the squared window has a mean of 3/8.
  const double scale = 2 / (3.0 / 8 * window_samples * window_samples);
  for (float& value : spectra.power.values) value *= static_cast<float>(scale);
  return spectra;
}

double decibels(double power_ratio) { return 10 * std::log10(power_ratio); }

}  // namespace hum::pipeline
