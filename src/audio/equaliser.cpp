#include "audio/equaliser.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace hum::audio {
namespace {

// y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2].
struct Biquad {
  double b0, b1, b2, a1, a2;
};

Biquad normalised(double b0, double b1, double b2, double a0, double a1, double a2) {
  return {b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0};
}

Biquad biquad_of(const EqualiserBand& band, int rate_hz) {
  HUM_REQUIRE(band.frequency_hz > 0 && 2 * band.frequency_hz < rate_hz && band.q > 0,
              "equaliser band at {} Hz, Q {}, of sound at {} Hz", band.frequency_hz, band.q,
              rate_hz);
  const double a = std::pow(10, band.gain_db / 40);
  const double w = 2 * std::numbers::pi * band.frequency_hz / rate_hz;
  const double c = std::cos(w), alpha = std::sin(w) / (2 * band.q);
  if (band.shape == EqualiserShape::kPeak) {
    return normalised(1 + alpha * a, -2 * c, 1 - alpha * a, 1 + alpha / a, -2 * c, 1 - alpha / a);
  }
  // A high shelf is a low one with the spectrum turned round: z becomes -z.
  const double turn = band.shape == EqualiserShape::kLowShelf ? 1 : -1;
  const double cosine = turn * c, root = 2 * std::sqrt(a) * alpha;
  const double less = a - 1, more = a + 1;
  return normalised(a * (more - less * cosine + root), turn * 2 * a * (less - more * cosine),
                    a * (more - less * cosine - root), more + less * cosine + root,
                    -turn * 2 * (less + more * cosine), more + less * cosine - root);
}

// One channel of interleaved sound, in transposed direct form II.
void filter(std::span<float> samples, size_t first, size_t stride, const Biquad& f) {
  double s1 = 0, s2 = 0;
  for (size_t i = first; i < samples.size(); i += stride) {
    const double x = samples[i], y = f.b0 * x + s1;
    s1 = f.b1 * x - f.a1 * y + s2;
    s2 = f.b2 * x - f.a2 * y;
    samples[i] = static_cast<float>(y);
  }
}

}  // namespace

void equalise(std::span<float> samples, int channels, int rate_hz,
              std::span<const EqualiserBand> bands) {
  const auto stride = static_cast<size_t>(channels);
  for (const EqualiserBand& band : bands) {
    const Biquad coefficients = biquad_of(band, rate_hz);
    for (size_t channel = 0; channel < stride; ++channel) {
      filter(samples, channel, stride, coefficients);
    }
  }
}

}  // namespace hum::audio
