// Power spectra of a recording's windows, which the measures of this folder read.
#pragma once

#include <cstdint>
#include <span>

#include "audio/dsp.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {

struct Spectra {
  // The bins of a window add up to its mean square. Shapes: [windows, window_samples / 2 + 1].
  audio::Matrix<float> power;
  int window_samples = 0, hop_samples = 0;

  int64_t windows() const { return power.rows; }
  int64_t bins() const { return power.columns; }
  double hz_per_bin() const { return static_cast<double>(data::kSampleRate) / window_samples; }
  double hop_s() const { return static_cast<double>(hop_samples) / data::kSampleRate; }
  double centre_s(int64_t window) const {
    return (static_cast<double>(window) * hop_samples + window_samples / 2.0) / data::kSampleRate;
  }
};

// Windows are Hann's. Units: mono at 22,050 Hz.
Spectra spectra_of(std::span<const float> samples, int window_samples, int hop_samples);

// A level that no microphone reaches, -100 dBFS: digital silence.
inline constexpr double kDigitalSilence = 1e-10;

double decibels(double power_ratio);

}  // namespace hum::pipeline
