#include "models/basic_pitch/matrices.h"

#include <algorithm>

namespace hum::models::basic_pitch {
namespace {

constexpr int64_t kContourHiddenParts = 3;
constexpr int64_t kContourParts = 6;

size_t at(int64_t index) { return static_cast<size_t>(index); }

// One part of the harmonic stack and convolution: output bins [start, start + bins).
Band contour_hidden_band(const ConvWeights& conv, int64_t start, int64_t bins) {
  const int64_t reach = conv.freqs / 2;
  const auto [lowest, highest] = std::ranges::minmax(kHarmonicShiftBins);
  Band band;
  band.first = std::max<int64_t>(start + lowest - reach, 0);
  band.inputs = std::min(start + bins + highest + reach, kCqtBins) - band.first;
  band.rows = conv.times * band.inputs;
  band.columns = bins * conv.outputs;
  band.values.assign(at(band.rows * band.columns), 0.0F);
  for (int64_t out = start; out < start + bins; ++out) {
    for (int64_t tap = 0; tap < conv.freqs; ++tap) {
      // The stack ends after 264 bins, the spectrum after 309: both edges are padded with zeros.
      const int64_t stacked = out + tap - reach;
      if (stacked < 0 || stacked >= kContourBins) continue;
      for (int64_t harmonic = 0; harmonic < kHarmonics; ++harmonic) {
        const int64_t in = stacked + kHarmonicShiftBins[harmonic];
        if (in < 0 || in >= kCqtBins) continue;
        for (int64_t time = 0; time < conv.times; ++time) {
          const int64_t row = time * band.inputs + in - band.first;
          float* target = &band.values[at(row * band.columns + (out - start) * conv.outputs)];
          for (int64_t channel = 0; channel < conv.outputs; ++channel) {
            target[channel] += conv.at(channel, harmonic, time, tap);
          }
        }
      }
    }
  }
  return band;
}

// One part of the convolution to a single channel: output bins [start, start + bins).
Band contour_band(const ConvWeights& conv, int64_t start, int64_t bins) {
  const int64_t reach = conv.freqs / 2;
  const int64_t first_bin = std::max<int64_t>(start - reach, 0);
  const int64_t last_bin = std::min(start + bins + reach, kContourBins);
  Band band;
  band.first = first_bin * conv.inputs;
  band.inputs = (last_bin - first_bin) * conv.inputs;
  band.rows = band.inputs;
  band.columns = conv.times * bins;
  band.values.assign(at(band.rows * band.columns), 0.0F);
  for (int64_t out = start; out < start + bins; ++out) {
    for (int64_t tap = 0; tap < conv.freqs; ++tap) {
      const int64_t in = out + tap - reach;
      if (in < 0 || in >= kContourBins) continue;
      for (int64_t channel = 0; channel < conv.inputs; ++channel) {
        const int64_t row = (in - first_bin) * conv.inputs + channel;
        for (int64_t time = 0; time < conv.times; ++time) {
          band.values[at(row * band.columns + time * bins + out - start)] =
              conv.at(0, channel, time, tap);
        }
      }
    }
  }
  return band;
}

}  // namespace

std::vector<float> downsample_matrix(const Weights& weights) {
  const int64_t rows = 2 * (kDownsampleBlock - 1) + kKernelSamples;
  std::vector<float> matrix(at(rows * kDownsampleBlock), 0.0F);
  for (int64_t column = 0; column < kDownsampleBlock; ++column) {
    for (int64_t tap = 0; tap < kKernelSamples; ++tap) {
      matrix[at((2 * column + tap) * kDownsampleBlock + column)] = weights.lowpass[at(tap)];
    }
  }
  return matrix;
}

std::vector<float> cqt_matrix(const Weights& weights) {
  constexpr int64_t kColumns = 2 * kBinsPerOctave;
  std::vector<float> matrix(at(kKernelSamples * kColumns));
  for (int64_t bin = 0; bin < kBinsPerOctave; ++bin) {
    for (int64_t sample = 0; sample < kKernelSamples; ++sample) {
      const size_t source = at(bin * kKernelSamples + sample);
      matrix[at(sample * kColumns + bin)] = weights.cqt_real[source];
      matrix[at(sample * kColumns + kBinsPerOctave + bin)] = weights.cqt_imag[source];
    }
  }
  return matrix;
}

std::vector<Band> contour_hidden_bands(const Weights& weights) {
  constexpr int64_t kBins = kContourBins / kContourHiddenParts;
  std::vector<Band> bands;
  for (int64_t part = 0; part < kContourHiddenParts; ++part) {
    bands.push_back(contour_hidden_band(weights.contour_hidden, part * kBins, kBins));
  }
  return bands;
}

std::vector<Band> contour_bands(const Weights& weights) {
  constexpr int64_t kBins = kContourBins / kContourParts;
  std::vector<Band> bands;
  for (int64_t part = 0; part < kContourParts; ++part) {
    bands.push_back(contour_band(weights.contour, part * kBins, kBins));
  }
  return bands;
}

}  // namespace hum::models::basic_pitch
