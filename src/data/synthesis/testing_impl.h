// Shared by the tests of this folder: an independent pitch meter and small helpers.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/timing.h"

namespace hum::data::testing {

// MIDI pitch by normalised autocorrelation over at least 3,000 `samples`; 0: none. Takes the
// shortest of the lags whose peaks are within 6 % of the best.
inline double measured_pitch(std::span<const float> samples, double low_hz = 35,
                             double high_hz = 2500) {
  const auto longest = static_cast<int>(kSampleRate / low_hz);
  const int size = static_cast<int>(samples.size()) - longest - 2;
  std::vector<double> correlation(longest + 2);
  double here = 0;
  for (int i = 0; i < size; ++i) here += samples[i] * samples[i];
  if (here <= 0) return 0;
  for (int lag = 1; lag < longest + 2; ++lag) {
    double both = 0;
    double there = 0;
    for (int i = 0; i < size; ++i) {
      both += static_cast<double>(samples[i]) * samples[i + lag];
      there += static_cast<double>(samples[i + lag]) * samples[i + lag];
    }
    correlation[lag] = both / std::sqrt(here * there + 1e-20);
  }
  const int shortest = std::max(3, static_cast<int>(kSampleRate / high_hz));
  // (height, lag) of every peak, interpolated by a parabola.
  std::vector<std::pair<double, double>> peaks;
  for (int lag = shortest; lag <= longest; ++lag) {
    const double left = correlation[lag - 1];
    const double middle = correlation[lag];
    const double right = correlation[lag + 1];
    if (middle < left || middle < right) continue;
    const double offset = (left - right) / (2 * (left - 2 * middle + right));
    peaks.emplace_back(middle - (left - right) * offset / 4, lag + offset);
  }
  double best = 0;
  for (const auto& [height, unused] : peaks) best = std::max(best, height);
  for (const auto& [height, lag] : peaks) {
    if (height >= 0.94 * best) return audio::hz_to_midi(kSampleRate / lag);
  }
  return 0;
}

inline std::span<const float> between(std::span<const float> samples, double from_s, double to_s) {
  return samples.subspan(sample_of(from_s), sample_of(to_s) - sample_of(from_s));
}

inline double rms(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

// Amplitude of the sinusoid at `hz`, under a Hann window.
inline double amplitude_at(std::span<const float> samples, double hz) {
  const auto size = static_cast<double>(samples.size());
  double re = 0;
  double im = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double place = static_cast<double>(i);
    const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * place / size);
    const double angle = 2 * std::numbers::pi * hz * place / kSampleRate;
    re += window * samples[i] * std::cos(angle);
    im += window * samples[i] * std::sin(angle);
  }
  return 4 * std::sqrt(re * re + im * im) / size;
}

}  // namespace hum::data::testing
