#include "pipeline/sound_quality.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/quantile.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

constexpr double kFrame_s = 0.02;
constexpr double kDigitalSilence = 1e-10;  // energy per sample, -100 dBFS
// The voice sounds steadily in this part of a note.
constexpr double kSteadyFrom = 0.25, kSteadyTo = 0.85;
// A pause begins so long after a note, when a usual room is silent, and ends before the next one.
constexpr double kAfterNote_s = 0.3, kBeforeNote_s = 0.1, kShortestPauses_s = 0.3;
constexpr double kFloorQuantile = 0.2;
// A note's decay: from its end to this much later.
constexpr double kBeforeEnd_s = 0.06, kDecay_s = 0.2;
constexpr int kFewestDecays = 3;
// In more noise than 25 dB below the note its decay is not heard.
constexpr double kAboveFloor = 300;

constexpr double kNoisy_db = 15, kReverberant_s = 0.7;

double energy(std::span<const float> samples, double from_s, double to_s) {
  const auto size = std::ssize(samples);
  const auto from = std::clamp<int64_t>(data::sample_of(from_s), 0, size);
  const auto to = std::clamp<int64_t>(data::sample_of(to_s), from, size);
  if (from == to) return 0;
  double sum = 0;
  for (int64_t i = from; i < to; ++i) {
    sum += static_cast<double>(samples[static_cast<size_t>(i)]) * samples[static_cast<size_t>(i)];
  }
  return sum / static_cast<double>(to - from);
}

void add_frames(std::span<const float> samples, double from_s, double to_s,
                std::vector<double>& energies) {
  for (double t = from_s; t + kFrame_s <= to_s; t += kFrame_s) {
    energies.push_back(energy(samples, t, t + kFrame_s));
  }
}

double decibels(double ratio) { return 10 * std::log10(ratio); }

// The energy of the pauses; absent if there are none to speak of.
std::optional<double> floor_of(std::span<const float> samples, std::span<const audio::Note> notes) {
  const double end_s = static_cast<double>(samples.size()) / data::kSampleRate;
  std::vector<double> pauses;
  double from_s = 0;
  for (const audio::Note& note : notes) {
    add_frames(samples, from_s, note.start_s - kBeforeNote_s, pauses);
    from_s = std::max(from_s, note.end_s + kAfterNote_s);
  }
  add_frames(samples, from_s, end_s, pauses);
  std::erase_if(pauses, [](double e) { return e < kDigitalSilence; });
  if (static_cast<double>(pauses.size()) * kFrame_s < kShortestPauses_s) return std::nullopt;
  std::ranges::sort(pauses);
  return quantile(pauses, kFloorQuantile);
}

// By how many dB notes decay in kDecay_s, of those that a pause follows.
std::vector<double> decays_of(std::span<const float> samples, std::span<const audio::Note> notes,
                              double floor) {
  std::vector<double> decays;
  for (size_t i = 0; i < notes.size(); ++i) {
    const double end_s = notes[i].end_s;
    const double next_s = i + 1 < notes.size()
                              ? notes[i + 1].start_s
                              : static_cast<double>(samples.size()) / data::kSampleRate;
    if (next_s - end_s < kAfterNote_s) continue;
    const double before = energy(samples, end_s - kBeforeEnd_s, end_s) - floor;
    const double after =
        energy(samples, end_s + kDecay_s - kFrame_s, end_s + kDecay_s + kFrame_s) - floor;
    if (before < kAboveFloor * floor) continue;
    decays.push_back(decibels(before / std::max({after, 0.5 * floor, kDigitalSilence})));
  }
  return decays;
}

}  // namespace

SoundQuality sound_quality(std::span<const float> samples, std::span<const audio::Note> notes) {
  SoundQuality quality;
  std::vector<double> voice;
  for (const audio::Note& note : notes) {
    const double length_s = note.end_s - note.start_s;
    add_frames(samples, note.start_s + kSteadyFrom * length_s, note.start_s + kSteadyTo * length_s,
               voice);
  }
  if (voice.empty()) return quality;
  const auto floor = floor_of(samples, notes);
  if (floor) quality.signal_to_noise_db = decibels(median(voice) / *floor);
  const auto decays = decays_of(samples, notes, floor.value_or(0));
  if (std::ssize(decays) >= kFewestDecays) {
    const double decay_db = std::max(median(decays), 1.0);
    quality.reverberation_s = 60 * kDecay_s / decay_db;
  }
  return quality;
}

std::vector<std::string> quality_warnings(const SoundQuality& quality) {
  std::vector<std::string> warnings;
  if (quality.signal_to_noise_db && *quality.signal_to_noise_db < kNoisy_db) {
    warnings.push_back(
        fmt::format("the recording is noisy: the voice is only {:.0f} dB above the noise; record "
                    "closer to the microphone or in a quieter place",
                    std::max(0.0, *quality.signal_to_noise_db)));
  }
  if (quality.reverberation_s && *quality.reverberation_s > kReverberant_s) {
    warnings.push_back(fmt::format(
        "the room echoes for {:.1f} s; record closer to the microphone or in a smaller room",
        *quality.reverberation_s));
  }
  return warnings;
}

}  // namespace hum::pipeline
