#include "models/humming/equaliser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "audio/dsp.h"
#include "base/error.h"
#include "models/humming/melody_columns.h"
#include "models/humming/note_frames.h"

namespace hum::models::humming {
namespace {

constexpr int kRate = 22050, kHop = 441;
constexpr audio::StftOptions kStft{.window_samples = 4 * kHop, .hop_samples = kHop};
constexpr double kRange_db = 80;
// A rest fades by 30 dB a second after the first quarter of a second.
constexpr int64_t kRelease = 12;
constexpr double kRestFade_db = 0.6;  // per frame

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

// The power of a frame's bands. Shapes: [kBands].
float level_of(std::span<const float> levels_db) {
  double power = 0;
  for (const float level : levels_db) power += std::pow(10.0, level / 10);
  return static_cast<float>(10 * std::log10(power));
}

// Of sounding frames the bands' levels relative to the frame's, of rests as they are. Shapes:
// samples [F 441], melody [F, M] -> [F, kBands].
std::vector<float> colours(std::span<const float> samples, std::span<const float> melody) {
  auto levels_db = band_levels(samples);
  const size_t frames = levels_db.size() / kBands, features = melody.size() / frames;
  for (size_t t = 0; t < frames; ++t) {
    if (!is_sounding(melody.subspan(t * features, features))) continue;
    const auto row = std::span(levels_db).subspan(t * kBands, kBands);
    const float level = level_of(row);
    for (float& band : row) band -= level;
  }
  return levels_db;
}

// How much a rest is faded: the models play noise in rests if the clip has none that is silent.
double rest_fade_db(std::span<const float> row) {
  return kRestFade_db * static_cast<double>(std::max<int64_t>(0, frames_since_end(row) - kRelease));
}

// Shapes: samples [F 441], gains [F, kBands].
void filter(std::vector<float>& samples, std::span<const float> gains_db) {
  const int64_t frames = std::ssize(samples) / kHop;
  auto spectrum = audio::stft(samples, kStft);
  for (int64_t t = 0; t < spectrum.rows; ++t) {
    // The last row is centred on the end of the sound.
    const auto gains = gains_db.subspan(static_cast<size_t>(std::min(t, frames - 1) * kBands),
                                        static_cast<size_t>(kBands));
    for (int bin = 0; bin < static_cast<int>(spectrum.columns); ++bin) {
      spectrum(t, bin) *= std::pow(10.0F, value_at<float>(bin, gains) / 20);
    }
  }
  samples = audio::istft(spectrum, std::ssize(samples), kStft);
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

BandCorrection::BandCorrection(std::span<const float> truth, std::span<const float> played,
                               std::span<const float> melody, std::span<const uint8_t> is_used)
    : colour_(colours(truth, melody), colours(played, melody), melody, is_used, kBandRule) {
  std::vector<float> coloured(played.begin(), played.end());
  correct_bands(coloured, melody, *this, 1);  // by the colour alone
  levels_ = NoteLevels(frame_levels(truth), frame_levels(coloured), melody, is_used);
  // A rest's colour is what the levels leave of it.
  std::vector<float> levelled(played.begin(), played.end());
  filter(levelled, levels_db(melody, std::ssize(is_used)));
  colour_ = Residual(colours(truth, melody), colours(levelled, melody), melody, is_used, kBandRule);
}

std::vector<float> BandCorrection::levels_db(std::span<const float> melody, int64_t frames) const {
  const size_t features = melody.size() / static_cast<size_t>(frames);
  std::vector<float> gains;
  for (size_t t = 0; t < static_cast<size_t>(frames); ++t) {
    const auto row = melody.subspan(t * features, features);
    const double level_db = levels_.difference_db(midi_pitch(row), last_age_frames(row));
    // What follows a note is only made quieter: a clip has the noise of its room there, and where
    // its notes end is heard less surely than where they begin.
    gains.insert(gains.end(), kBands,
                 static_cast<float>(is_sounding(row) ? level_db : std::min(0.0, level_db)));
  }
  return gains;
}

std::vector<float> BandCorrection::gains_db(std::span<const float> melody, int64_t frames,
                                            double share) const {
  std::vector<float> gains(static_cast<size_t>(frames * kBands));
  colour_.add(gains, melody, share);
  const auto levels = levels_db(melody, frames);
  const size_t features = melody.size() / static_cast<size_t>(frames);
  for (size_t t = 0; t < static_cast<size_t>(frames); ++t) {
    const auto row = melody.subspan(t * features, features);
    const bool sounds = is_sounding(row);
    const double added = levels[t * kBands] - (sounds ? 0 : rest_fade_db(row));
    for (float& gain : std::span(gains).subspan(t * kBands, kBands)) {
      gain = std::clamp(gain, -kMaxBandGain_db, kMaxBandGain_db);
      gain = std::min(gain + static_cast<float>(share * added), sounds ? kMaxBandGain_db : 0);
    }
  }
  return gains;
}

void correct_bands(std::vector<float>& samples, std::span<const float> melody,
                   const BandCorrection& correction, double share) {
  const int64_t frames = std::ssize(samples) / kHop;
  HUM_REQUIRE(frames > 0 && std::ssize(melody) % frames == 0,
              "correct_bands: {} samples and {} features", samples.size(), melody.size());
  filter(samples, correction.gains_db(melody, frames, share));
}

}  // namespace hum::models::humming
