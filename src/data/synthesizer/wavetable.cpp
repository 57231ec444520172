#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "base/error.h"
#include "data/synthesizer/wavetable_impl.h"

namespace hum::data::internal {
namespace {

constexpr int kMostHarmonics = 1200;  // of 16.7 Hz, below any MIDI pitch but a few

std::vector<double> sine() { return {0, 1}; }

// 1 at the start of a period, falling to -1.
std::vector<double> saw() {
  std::vector<double> amplitudes(kMostHarmonics + 1);
  for (int k = 1; k <= kMostHarmonics; ++k) amplitudes[k] = 2 / (std::numbers::pi * k);
  return amplitudes;
}

std::vector<double> triangle() {
  std::vector<double> amplitudes(kMostHarmonics + 1);
  for (int k = 1; k <= kMostHarmonics; k += 2) {
    amplitudes[k] = (k % 4 == 1 ? 8 : -8) / (std::numbers::pi * std::numbers::pi * k * k);
  }
  return amplitudes;
}

}  // namespace

Wavetable::Wavetable(std::span<const double> amplitudes) {
  HUM_REQUIRE(!amplitudes.empty(), "Wavetable: no amplitudes");
  std::vector<double> sine(kSize), sum(kSize);
  for (int i = 0; i < kSize; ++i) sine[i] = std::sin(2 * std::numbers::pi * i / kSize);
  const int last = static_cast<int>(amplitudes.size()) - 1;
  const auto append_row = [&](int harmonics) {
    harmonics_.push_back(harmonics);
    for (const double sample : sum) samples_.push_back(static_cast<float>(sample));
    samples_.push_back(static_cast<float>(sum[0]));
  };
  append_row(0);
  for (int k = 1; k <= last; ++k) {
    for (int i = 0; i < kSize; ++i) sum[i] += amplitudes[k] * sine[(k * i) & (kSize - 1)];
    const bool is_row = k == last || 4 * k >= 5 * harmonics_.back();
    if (is_row) append_row(k);
  }
}

const float* Wavetable::period(double hz) const {
  const double most = kHighest_hz / hz;
  const auto next = std::ranges::upper_bound(harmonics_, most);
  const auto row = std::distance(harmonics_.begin(), next) - 1;
  return samples_.data() + row * (kSize + 1);
}

const Wavetable& wavetable(Wave wave) {
  static const Wavetable sines(sine()), saws(saw()), triangles(triangle());
  if (wave == Wave::kSine) return sines;
  return wave == Wave::kTriangle ? triangles : saws;
}

}  // namespace hum::data::internal
