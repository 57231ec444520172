#include "pipeline/sound_quality/sound_quality.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/synthesis/timing.h"
#include "pipeline/sound_quality/narrow_band.h"
#include "pipeline/sound_quality/other_tones.h"
#include "pipeline/sound_quality/reverberation.h"
#include "pipeline/sound_quality/steady_noise.h"

namespace hum::pipeline {
namespace {

constexpr double kMost_s = 60;
// A low voice's harmonics are separate, and a decay has several windows.
constexpr int kWindow = 2048, kHop = 441;

// Limits, from synthetic singers (data/singing) in rooms and noises.
constexpr double kNoisy_db = 14;
constexpr double kReverberant_s = 0.54;
constexpr double kCrowded = 0.35;
// Fewer notes may decay slowly by themselves, as those of strings and pianos do.
constexpr size_t kNotesInARoom = 4;

std::span<const float> first_part(std::span<const float> samples, double from_s) {
  const auto from = std::clamp<int64_t>(data::sample_of(from_s), 0, std::ssize(samples));
  const auto rest = samples.subspan(static_cast<size_t>(from));
  return rest.first(std::min(rest.size(), static_cast<size_t>(data::sample_of(kMost_s))));
}

// The mean power while notes sound.
double power_of(std::span<const float> samples, std::span<const audio::Note> notes) {
  double sum = 0;
  int64_t count = 0;
  for (const audio::Note& note : notes) {
    const auto end = std::min(data::sample_of(note.end_s), std::ssize(samples));
    for (int64_t i = std::max<int64_t>(0, data::sample_of(note.start_s)); i < end; ++i, ++count) {
      sum += static_cast<double>(samples[static_cast<size_t>(i)]) * samples[static_cast<size_t>(i)];
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

double signal_to_noise_db(double power, double noise) {
  const double least = std::max(noise, kDigitalSilence);
  return decibels(std::max(power - noise, 1e-3 * least) / least);
}

}  // namespace

SoundQuality sound_quality(std::span<const float> samples, std::span<const audio::Note> notes,
                           bool is_one_voice) {
  if (notes.empty()) return {};
  const double from_s = std::max(0.0, notes.front().start_s - 1);
  const auto part = first_part(samples, from_s);
  std::vector<audio::Note> inside(notes.begin(), notes.end());
  for (audio::Note& note : inside) {
    note.start_s -= from_s;
    note.end_s -= from_s;
  }
  SoundQuality quality;
  const Spectra spectra = spectra_of(part, kWindow, kHop);
  if (const auto noise = steady_noise(spectra)) {
    quality.signal_to_noise_db =
        signal_to_noise_db(power_of(part, inside), noise_power(spectra, *noise));
    if (notes.size() >= kNotesInARoom) quality.decay_s = decay_s(spectra, *noise);
  }
  if (!is_one_voice) return quality;
  quality.other_tones = other_tones(part, inside);
  return quality;
}

std::vector<std::string> quality_warnings(const SoundQuality& quality) {
  const bool is_noisy = quality.signal_to_noise_db.value_or(kNoisy_db) < kNoisy_db;
  const bool is_crowded = quality.other_tones.value_or(0) >= kCrowded;
  std::vector<std::string> warnings;
  if (is_noisy) {
    warnings.push_back(
        fmt::format("noisy recording (the voice is about {:.0f} dB above the noise): notes may be "
                    "missed; move closer to the microphone or to a quieter place",
                    std::max(0.0, *quality.signal_to_noise_db)));
  }
  if (is_crowded) {
    warnings.emplace_back(
        "several voices or music sound at once: their notes may be mixed into one melody; record "
        "one voice alone, with any music on headphones");
  }
  // Noise hides the end of quick decays; strings and pianos decay slowly.
  if (!is_noisy && !is_crowded && quality.decay_s.value_or(0) > kReverberant_s) {
    warnings.emplace_back(
        "reverberant recording: notes may run into each other or be heard twice; move closer to "
        "the microphone or to a smaller room with curtains or a carpet");
  }
  return warnings;
}

bool has_narrow_band(std::span<const float> samples) {
  const Spectra spectra = spectra_of(first_part(samples, 0), kWindow, kWindow);
  const auto noise = steady_noise(spectra);
  return noise && has_narrow_band(spectra, *noise);
}

}  // namespace hum::pipeline
