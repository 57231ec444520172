#include "data/synthesizer/drive.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "data/synthesis/level.h"

namespace hum::data {
namespace {

constexpr int kTaps = 16;  // on either side
constexpr int64_t kBlock = 1024;
constexpr double kKaiserBeta = 7;    // -70 dB
constexpr double kDrivenRms = 0.35;  // before the drive's gain

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 40; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// taps[m]: the weight of the samples m + 1/2 away from a point halfway between two samples.
std::array<float, kTaps> half_band_taps() {
  std::array<double, kTaps> taps;
  double sum = 0;
  for (int m = 0; m < kTaps; ++m) {
    const double place = (m + 0.5) / kTaps;
    const double window = bessel_i0(kKaiserBeta * std::sqrt(1 - place * place));
    taps[m] = window * (m % 2 == 0 ? 1 : -1) / (m + 0.5);
    sum += 2 * taps[m];
  }
  std::array<float, kTaps> result;
  for (int m = 0; m < kTaps; ++m) result[m] = static_cast<float>(taps[m] / sum);
  return result;
}

// out[i] = the signal halfway between samples[i] and samples[i + 1]; reads kTaps - 1 samples before
// and kTaps after those. In blocks that stay in the first cache.
void halfway(const float* samples, int64_t count, const std::array<float, kTaps>& taps,
             float* out) {
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t end = std::min(count, first + kBlock);
    std::fill(out + first, out + end, 0.0F);
    for (int m = 0; m < kTaps; ++m) {
      for (int64_t i = first; i < end; ++i) {
        out[i] += taps[m] * (samples[i - m] + samples[i + 1 + m]);
      }
    }
  }
}

// The mean of the shape between two values: the difference of its antiderivative, sqrt(1 + x^2),
// over theirs.
float mean_shape(float from, float to) {
  return (from + to) / (std::sqrt(1 + from * from) + std::sqrt(1 + to * to));
}

}  // namespace

void drive(std::vector<float>& samples) {
  const auto taps = half_band_taps();
  const auto size = static_cast<int64_t>(samples.size());
  // Sample i is padded[i + 2 kTaps]; halves[i + kTaps] is at i + 1/2.
  std::vector<float> padded(size + 4 * kTaps), halves(size + 2 * kTaps);
  std::copy(samples.begin(), samples.end(), padded.begin() + 2 * kTaps);
  halfway(padded.data() + kTaps, size + 2 * kTaps, taps, halves.data());
  for (int64_t i = 0; i < size; ++i) {
    samples[i] = mean_shape(halves[i + kTaps - 1], padded[i + 2 * kTaps]);
  }
  for (int64_t j = 0; j < size + 2 * kTaps; ++j) {
    halves[j] = mean_shape(padded[j + kTaps], halves[j]);
  }
  std::vector<float> between(size);
  halfway(halves.data() + kTaps - 1, size, taps, between.data());
  for (int64_t i = 0; i < size; ++i) samples[i] = (samples[i] + between[i]) / 2;
}

void drive_channels(audio::AudioBuffer& sound, double drive_db) {
  const double rms = active_rms(sound.samples, 2);
  if (rms < 1e-7) return;
  const auto gain = static_cast<float>(kDrivenRms / rms * std::pow(10, drive_db / 20));
  std::vector<float> channel(sound.frames());
  for (size_t c = 0; c < 2; ++c) {
    for (size_t i = 0; i < channel.size(); ++i) channel[i] = gain * sound.samples[2 * i + c];
    drive(channel);
    for (size_t i = 0; i < channel.size(); ++i) sound.samples[2 * i + c] = channel[i];
  }
}

}  // namespace hum::data
