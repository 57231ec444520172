#include "eval/metrics/harmonic_levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audio/dsp.h"

namespace hum::eval {
namespace {

constexpr audio::StftOptions kStft{.window_samples = 4096, .hop_samples = 512};
constexpr double kOnset_s = 0.03;  // not measured: noise of hammers and bows
constexpr double kReach = 0.029;   // half a semitone
constexpr int64_t kLobe_bins = 2;  // to each side of a peak: the main lobe of a Hann window
using Powers = std::array<double, std::tuple_size_v<HarmonicLevels>>;

// Power of the strongest peak around `hz` in one frame. The sum over the main lobe does not depend
// on where between two bins the peak is.
double peak_power(std::span<const float> frame, double hz, double bin_hz) {
  const double place = hz / bin_hz;
  const double reach = std::max(1.0, kReach * place);
  const auto low = static_cast<int64_t>(std::ceil(place - reach));
  const auto high = static_cast<int64_t>(std::floor(place + reach));
  if (low < kLobe_bins || high + kLobe_bins >= std::ssize(frame)) return 0;
  const auto peak = std::max_element(frame.begin() + low, frame.begin() + high + 1);
  return std::accumulate(peak - kLobe_bins, peak + kLobe_bins + 1, 0.0);
}

// The power of each harmonic, summed over the frames of a note.
Powers powers_of(const audio::Matrix<float>& spectrum, int rate_hz, const PitchedNote& note) {
  Powers powers{};
  const double frame_s = static_cast<double>(kStft.hop_samples) / rate_hz;
  const double bin_hz = static_cast<double>(rate_hz) / kStft.window_samples;
  const auto first = static_cast<int64_t>(std::ceil((note.start_s + kOnset_s) / frame_s));
  const auto end = std::min(spectrum.rows, static_cast<int64_t>(std::ceil(note.end_s / frame_s)));
  for (int64_t t = std::max<int64_t>(first, 0); t < end; ++t) {
    for (size_t k = 0; k < powers.size(); ++k) {
      powers[k] += peak_power(spectrum.row(t), static_cast<double>(k + 1) * note.hz, bin_hz);
    }
  }
  return powers;
}

}  // namespace

HarmonicLevels harmonic_levels(std::span<const float> samples, int rate_hz,
                               std::span<const PitchedNote> notes) {
  const auto spectrum = audio::spectrogram(samples, kStft, 2);
  Powers shares{};
  double count = 0;
  for (const PitchedNote& note : notes) {
    const Powers powers = powers_of(spectrum, rate_hz, note);
    const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
    if (sum == 0) continue;
    ++count;
    for (size_t k = 0; k < shares.size(); ++k) shares[k] += powers[k] / sum;
  }
  HarmonicLevels levels;
  levels.fill(kHarmonicFloor_db);
  for (size_t k = 0; k < levels.size() && count > 0; ++k) {
    levels[k] = std::max(kHarmonicFloor_db, 10 * std::log10(shares[k] / count));
  }
  return levels;
}

}  // namespace hum::eval
