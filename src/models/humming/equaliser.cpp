#include "models/humming/equaliser.h"

#include <algorithm>
#include <cmath>

#include "audio/dsp.h"
#include "base/error.h"
#include "models/humming/config.h"

namespace hum::models::humming {
namespace {

constexpr int kRate = 22050, kHop = 441;
constexpr audio::StftOptions kStft{.window_samples = 4 * kHop, .hop_samples = kHop};
constexpr double kRange_db = 80;

const std::vector<audio::MelBand>& mel_filters() {
  static const auto filters =
      audio::mel_bands(kRate, kStft.window_samples, {.bands = kBands, .normalised = false});
  return filters;
}

// The bins where the bands peak.
const std::vector<int>& centre_bins() {
  static const auto centres = [] {
    std::vector<int> bins;
    for (const auto& band : mel_filters()) {
      const auto peak = std::ranges::max_element(band.weights);
      bins.push_back(band.first_bin + static_cast<int>(peak - band.weights.begin()));
    }
    return bins;
  }();
  return centres;
}

// The value at a bin: interpolated between the centres. Shapes: values [kBands].
template <class T>
T value_at(double bin, std::span<const T> values) {
  const auto& centres = centre_bins();
  const auto above = std::ranges::upper_bound(centres, bin);
  const auto next = static_cast<size_t>(above - centres.begin());
  if (next == 0) return values.front();
  if (above == centres.end()) return values.back();
  const int low = centres[next - 1], high = centres[next];
  const T share = static_cast<T>((bin - low) / (high - low));
  return (1 - share) * values[next - 1] + share * values[next];
}

// In dB. What follows a note is only made quieter: a clip has the noise of its room there, and
// where its notes end is heard less surely than where they begin. Shapes: melody [F, M] -> [F,
// kBands].
std::vector<float> band_gains(int64_t frames, std::span<const float> melody, const Residual& bands,
                              double share) {
  std::vector<float> gains_db(static_cast<size_t>(frames * kBands));
  bands.add(gains_db, melody, share);
  const size_t features = melody.size() / static_cast<size_t>(frames);
  for (size_t i = 0; i < gains_db.size(); ++i) {
    const bool is_rest = melody[i / kBands * features + kMelodySounding] < 0.5F;
    gains_db[i] = std::clamp(gains_db[i], -kMaxBandGain_db, is_rest ? 0 : kMaxBandGain_db);
  }
  return gains_db;
}

}  // namespace

std::vector<double> moved_bands(const std::vector<double>& bands, double semitones) {
  const double lower = std::exp2(-semitones / 12);
  std::vector<double> moved;
  for (const int centre : centre_bins()) {
    moved.push_back(value_at<double>(centre * lower, bands));
  }
  return moved;
}

std::vector<float> band_levels(std::span<const float> samples) {
  const int64_t frames = std::ssize(samples) / kHop;
  auto levels = audio::apply_mel(audio::spectrogram(samples, kStft, 2), mel_filters());
  audio::power_to_db(levels, kRange_db);
  levels.values.resize(static_cast<size_t>(frames * kBands));
  return std::move(levels.values);
}

void correct_bands(std::vector<float>& samples, std::span<const float> melody,
                   const Residual& bands, double share) {
  const int64_t frames = std::ssize(samples) / kHop;
  HUM_REQUIRE(frames > 0 && bands.latent() == kBands && std::ssize(melody) % frames == 0,
              "correct_bands: {} bands, {} samples and {} features", bands.latent(), samples.size(),
              melody.size());
  const auto gains_db = band_gains(frames, melody, bands, share);
  auto spectrum = audio::stft(samples, kStft);
  for (int64_t t = 0; t < spectrum.rows; ++t) {
    // The last row is centred on the end of the sound.
    const auto gains = std::span(gains_db).subspan(
        static_cast<size_t>(std::min(t, frames - 1) * kBands), static_cast<size_t>(kBands));
    for (int bin = 0; bin < static_cast<int>(spectrum.columns); ++bin) {
      spectrum(t, bin) *= std::pow(10.0F, value_at<float>(bin, gains) / 20);
    }
  }
  samples = audio::istft(spectrum, std::ssize(samples), kStft);
}

}  // namespace hum::models::humming
