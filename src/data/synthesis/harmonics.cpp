#include "data/synthesis/harmonics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

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

  // From weight `from` at the first control point to `to` at the second.
  void add(float from, float to) {
    if (from == to) {
      for (int j = 0; j < kLanes; ++j) sum[j] += from * sin_k[j];
      return;
    }
    const float step = (to - from) / kControlSamples;
    for (int j = 0; j < kLanes; ++j) sum[j] += (from + step * static_cast<float>(j)) * sin_k[j];
  }

  void add_fading(float from, float to, int k) {
    constexpr auto kScale = static_cast<float>(1 / (kNyquistHz - kFadeHz));
    const float step = (to - from) / kControlSamples;
    for (int j = 0; j < kLanes; ++j) {
      const float room = (static_cast<float>(kNyquistHz) - static_cast<float>(k) * hz[j]) * kScale;
      const float weight = from + step * static_cast<float>(j);
      sum[j] += weight * std::min(1.0F, std::max(0.0F, room)) * sin_k[j];
    }
  }

  void add_all(std::span<const float> from, std::span<const float> to, double hz_low,
               double hz_high) {
    const int limit = static_cast<int>(from.size()) - 1;
    const int whole = std::min(limit, static_cast<int>(kFadeHz / hz_high));
    const int last = std::min(limit, static_cast<int>(kNyquistHz / hz_low));
    for (int k = 1; k <= last; ++k) {
      if (k > 1) advance();
      if (k <= whole) {
        add(from[k], to[k]);
      } else {
        add_fading(from[k], to[k], k);
      }
    }
  }
};

// The number of harmonics below half the sample rate.
int harmonics_of(const HarmonicVoice& voice) {
  const float lowest = *std::ranges::min_element(voice.hz);
  HUM_REQUIRE(lowest > 1, "add_harmonics: {} Hz is too low", lowest);
  return static_cast<int>(kNyquistHz / lowest);
}

bool is_silent(const HarmonicVoice& voice, size_t i) {
  return voice.gain[i] == 0 && voice.gain[i + 1] == 0;
}

// weights_at(i): the pair of weights at control points i and i + 1, k from 1.
template <typename WeightsAt>
void add_voice(const HarmonicVoice& voice, const WeightsAt& weights_at, std::span<float> out) {
  const auto size = static_cast<int64_t>(out.size());
  double phase = 0;
  Block block;
  for (size_t i = 0; i + 1 < voice.hz.size(); ++i) {
    const int64_t first = voice.first_sample + static_cast<int64_t>(i) * kControlSamples;
    if (first >= size) break;
    const double hz0 = voice.hz[i];
    const double hz1 = voice.hz[i + 1];
    if (is_silent(voice, i) || first + kControlSamples <= 0) {
      phase += (hz0 + hz1) / 2 * kControlSamples / kSampleRate;
      continue;
    }
    const auto [from_weights, to_weights] = weights_at(i);
    phase = block.start(phase, hz0, hz1);
    block.add_all(from_weights, to_weights, std::min(hz0, hz1), std::max(hz0, hz1));
    const float step = (voice.gain[i + 1] - voice.gain[i]) / kControlSamples;
    const auto from = static_cast<int>(std::max<int64_t>(0, -first));
    const auto to = static_cast<int>(std::min<int64_t>(kControlSamples, size - first));
    for (int j = from; j < to; ++j) {
      out[first + j] += (voice.gain[i] + step * static_cast<float>(j)) * block.sum[j];
    }
  }
}

void require_curves(const HarmonicVoice& voice) {
  HUM_REQUIRE(voice.hz.size() == voice.gain.size(), "add_harmonics: {} pitches, {} gains",
              voice.hz.size(), voice.gain.size());
}

using Weights = std::span<const float>;

}  // namespace

void add_harmonics(const HarmonicVoice& voice, const HarmonicShape& shape, std::span<float> out) {
  require_curves(voice);
  if (voice.hz.size() < 2) return;
  const int count = std::min(shape.max_harmonics, harmonics_of(voice));
  std::vector<float> weights(count + 1);
  for (int k = 1; k <= count; ++k) {
    weights[k] = static_cast<float>(std::pow(k, -shape.exponent));
  }
  add_voice(
      voice, [&](size_t) { return std::pair<Weights, Weights>(weights, weights); }, out);
}

void add_harmonics(const HarmonicVoice& voice, const HarmonicAmplitudes& amplitudes,
                   std::span<float> out) {
  require_curves(voice);
  if (voice.hz.size() < 2) return;
  std::vector<float> from(harmonics_of(voice) + 1), to(from.size());
  size_t filled = voice.hz.size();  // the control point whose amplitudes `to` has
  const auto weights_at = [&](size_t i) {
    std::swap(from, to);
    if (filled != i) amplitudes(i, from);
    amplitudes(i + 1, to);
    filled = i + 1;
    return std::pair<Weights, Weights>(from, to);
  };
  add_voice(voice, weights_at, out);
}

}  // namespace hum::data
