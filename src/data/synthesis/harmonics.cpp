#include "data/synthesis/harmonics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr double kNyquistHz = kSampleRate / 2.0;
// The start of the fade before half the sample rate.
constexpr double kFadeHz = 0.9 * kNyquistHz;
// kControlSamples rounded up to whole vectors; the last lane is computed and not used.
constexpr int kLanes = 64;
static_assert(kLanes >= kControlSamples);

using Lanes = std::array<float, kLanes>;

// The interval between two control points. sin and cos of k * phase advance by one rotation per
// harmonic.
struct Block {
  Lanes cos1, sin1, cos_k, sin_k, hz, sum;

  // Returns the phase after the last used sample. Units: cycles.
  double start(double phase, double hz0, double hz1) {
    for (int j = 0; j < kLanes; ++j) {
      const double t = static_cast<double>(j) / kControlSamples;
      const double cycles = phase + (hz0 * j + (hz1 - hz0) * j * t / 2) / kSampleRate;
      const auto angle = static_cast<float>(2 * std::numbers::pi * (cycles - std::floor(cycles)));
      cos1[j] = cos_k[j] = std::cos(angle);
      sin1[j] = sin_k[j] = std::sin(angle);
      hz[j] = static_cast<float>(hz0 + (hz1 - hz0) * t);
      sum[j] = 0;
    }
    phase += (hz0 + hz1) / 2 * kControlSamples / kSampleRate;
    return phase - std::floor(phase);
  }

  void advance() {
    for (int j = 0; j < kLanes; ++j) {
      const float c = cos_k[j] * cos1[j] - sin_k[j] * sin1[j];
      const float s = sin_k[j] * cos1[j] + cos_k[j] * sin1[j];
      cos_k[j] = c;
      sin_k[j] = s;
    }
  }

  void add(float weight) {
    for (int j = 0; j < kLanes; ++j) sum[j] += weight * sin_k[j];
  }

  void add_fading(float weight, int k) {
    constexpr auto kScale = static_cast<float>(1 / (kNyquistHz - kFadeHz));
    for (int j = 0; j < kLanes; ++j) {
      const float room = (static_cast<float>(kNyquistHz) - static_cast<float>(k) * hz[j]) * kScale;
      sum[j] += weight * std::min(1.0F, std::max(0.0F, room)) * sin_k[j];
    }
  }

  void add_all(std::span<const float> weights, double hz_low, double hz_high) {
    const int limit = static_cast<int>(weights.size()) - 1;
    const int whole = std::min(limit, static_cast<int>(kFadeHz / hz_high));
    const int last = std::min(limit, static_cast<int>(kNyquistHz / hz_low));
    for (int k = 1; k <= last; ++k) {
      if (k > 1) advance();
      if (k <= whole) {
        add(weights[k]);
      } else {
        add_fading(weights[k], k);
      }
    }
  }
};

// weights[k] for k >= 1, as many as the lowest pitch of the voice needs.
std::vector<float> harmonic_weights(const HarmonicVoice& voice, const HarmonicShape& shape) {
  const float lowest = *std::ranges::min_element(voice.hz);
  HUM_REQUIRE(lowest > 1, "add_harmonics: {} Hz is too low", lowest);
  const int count = std::min(shape.max_harmonics, static_cast<int>(kNyquistHz / lowest));
  std::vector<float> weights(count + 1);
  for (int k = 1; k <= count; ++k) {
    weights[k] = static_cast<float>(std::pow(k, -shape.exponent));
  }
  return weights;
}

}  // namespace

void add_harmonics(const HarmonicVoice& voice, const HarmonicShape& shape, std::span<float> out) {
  HUM_REQUIRE(voice.hz.size() == voice.gain.size(), "add_harmonics: {} pitches, {} gains",
              voice.hz.size(), voice.gain.size());
  if (voice.hz.size() < 2) return;
  const auto weights = harmonic_weights(voice, shape);
  const auto size = static_cast<int64_t>(out.size());
  double phase = 0;
  Block block;
  for (size_t i = 0; i + 1 < voice.hz.size(); ++i) {
    const int64_t first = voice.first_sample + static_cast<int64_t>(i) * kControlSamples;
    if (first >= size) break;
    const double hz0 = voice.hz[i];
    const double hz1 = voice.hz[i + 1];
    const bool silent = voice.gain[i] == 0 && voice.gain[i + 1] == 0;
    if (silent || first + kControlSamples <= 0) {
      phase += (hz0 + hz1) / 2 * kControlSamples / kSampleRate;
      continue;
    }
    phase = block.start(phase, hz0, hz1);
    block.add_all(weights, std::min(hz0, hz1), std::max(hz0, hz1));
    const float step = (voice.gain[i + 1] - voice.gain[i]) / kControlSamples;
    const auto from = static_cast<int>(std::max<int64_t>(0, -first));
    const auto to = static_cast<int>(std::min<int64_t>(kControlSamples, size - first));
    for (int j = from; j < to; ++j) {
      out[first + j] += (voice.gain[i] + step * static_cast<float>(j)) * block.sum[j];
    }
  }
}

}  // namespace hum::data
