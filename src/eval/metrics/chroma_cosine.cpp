#include "eval/metrics/chroma_cosine.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "audio/dsp.h"
#include "audio/resample.h"
#include "base/error.h"

namespace hum::eval {
namespace {

constexpr int kRateHz = 32000, kWindowSamples = 16384, kHopSamples = 4096;
constexpr int kClasses = 12;
constexpr double kCenterOctave = 5, kOctaveWidth = 2;  // librosa's ctroct and octwidth
constexpr int kSemitonesFromAToC = 3;

using BinWeights = std::array<double, kClasses>;

// Semitones above 27.5 Hz / 2 of each bin; bin 0 lies 1.5 octaves below bin 1.
std::vector<double> bin_semitones() {
  std::vector<double> semitones(kWindowSamples / 2 + 2);
  for (size_t bin = 1; bin < semitones.size(); ++bin) {
    const double hz = static_cast<double>(bin) * kRateHz / kWindowSamples;
    semitones[bin] = kClasses * std::log2(hz / (440.0 / 16));
  }
  semitones[0] = semitones[1] - 1.5 * kClasses;
  return semitones;
}

// For each bin, a Gaussian over the classes around its pitch, of unit length, weighted by octave.
std::vector<BinWeights> chroma_filters() {
  const auto semitones = bin_semitones();
  std::vector<BinWeights> filters(kWindowSamples / 2 + 1);
  for (size_t bin = 0; bin < filters.size(); ++bin) {
    const double width = std::max(semitones[bin + 1] - semitones[bin], 1.0);
    double squares = 0;
    BinWeights from_a{};
    for (int c = 0; c < kClasses; ++c) {
      const double away = std::remainder(semitones[bin] - c, kClasses);
      from_a[static_cast<size_t>(c)] = std::exp(-0.5 * std::pow(2 * away / width, 2));
      squares += std::pow(from_a[static_cast<size_t>(c)], 2);
    }
    const double octave = semitones[bin] / kClasses;
    const double weight = std::exp(-0.5 * std::pow((octave - kCenterOctave) / kOctaveWidth, 2));
    for (int c = 0; c < kClasses; ++c) {
      filters[bin][static_cast<size_t>(c)] =
          from_a[static_cast<size_t>((c + kSemitonesFromAToC) % kClasses)] * weight /
          std::sqrt(squares);
    }
  }
  return filters;
}

std::vector<float> padded_to_window(std::vector<float> samples) {
  if (samples.size() >= kWindowSamples) return samples;
  const size_t missing = kWindowSamples - samples.size();
  samples.insert(samples.begin(), missing / 2, 0.0F);
  samples.resize(kWindowSamples);
  return samples;
}

}  // namespace

std::vector<int> chroma_classes(std::span<const float> samples, int rate_hz) {
  if (samples.empty()) return {};
  static const auto filters = chroma_filters();
  auto resampled = audio::resample(samples, rate_hz, kRateHz);
  const size_t counted = (resampled.size() + kHopSamples - 1) / kHopSamples;
  const auto power = audio::spectrogram(padded_to_window(std::move(resampled)),
                                        {.window_samples = kWindowSamples,
                                         .hop_samples = kHopSamples,
                                         .padding = audio::Padding::kReflect},
                                        2);
  std::vector<int> classes;
  for (int64_t t = 0; t < power.rows && classes.size() < counted; ++t) {
    BinWeights sums{};
    for (size_t bin = 0; bin < filters.size(); ++bin) {
      const double energy = power(t, static_cast<int64_t>(bin));
      for (size_t c = 0; c < kClasses; ++c) sums[c] += energy * filters[bin][c];
    }
    classes.push_back(static_cast<int>(std::ranges::max_element(sums) - sums.begin()));
  }
  return classes;
}

double chroma_cosine(std::span<const int> reference, std::span<const int> estimate) {
  HUM_CHECK(reference.size() == estimate.size());
  double equal = 0;
  for (size_t t = 0; t < reference.size(); ++t) equal += reference[t] == estimate[t] ? 1 : 0;
  return reference.empty() ? 0 : equal / static_cast<double>(reference.size());
}

}  // namespace hum::eval
