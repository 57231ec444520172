#include "pipeline/tempo.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr double kSlowest_bpm = 45, kFastest_bpm = 210, kSearchStep = 1.01;
constexpr double kPace_bpm = 108, kPaceDeviation_octaves = 0.6;
constexpr double kSearchWindow_s = 2;
constexpr size_t kMinOnsets = 4;
// Random onsets reach about this value divided by the root of their number.
constexpr double kChance = 0.7;
// A requested tempo is taken as it is if it explains the onsets about as well as the best one.
constexpr double kAboutAsGood = 0.9, kNear = 0.05;
// Above this the half is nearer to a walking pace, and is the tempo if its beats are accented.
constexpr double kFast_bpm = kPace_bpm * std::numbers::sqrt2, kAccented = 0.3;

struct Onset {
  double time_s, weight;
  double accent = 0;  // louder and longer notes have more
};

// Notes that start together are one onset with the longest duration and the strongest accent.
std::vector<Onset> onsets_of(std::span<const Note> notes) {
  constexpr double kTogether_s = 0.03;
  std::vector<Onset> onsets;
  for (const Note& note : notes) {
    const double weight = std::sqrt(std::min(1.0, note.end_s - note.start_s));
    onsets.push_back({note.start_s, weight, weight * note.amplitude});
  }
  std::ranges::sort(onsets, {}, &Onset::time_s);
  std::vector<Onset> result;
  for (const Onset& onset : onsets) {
    if (!result.empty() && onset.time_s - result.back().time_s < kTogether_s) {
      result.back().weight = std::max(result.back().weight, onset.weight);
      result.back().accent = std::max(result.back().accent, onset.accent);
    } else {
      result.push_back(onset);
    }
  }
  return result;
}

// How well distances between onsets are multiples of a period: 1 for all of them, 0 as for random
// onsets. A Gaussian weights the distances, so that a singer may drift. Of very many onsets every
// nth is compared with those after it.
class Resonance {
 public:
  Resonance(std::span<const Onset> onsets, double window_s) {
    constexpr size_t kMostPairs = 1 << 18;
    const double farthest_s = 3 * window_s;
    const size_t step = 1 + pairs_within(onsets, farthest_s) / kMostPairs;
    for (size_t i = 0; i < onsets.size(); i += step) {
      for (size_t j = i + 1; j < onsets.size(); ++j) {
        const double distance_s = onsets[j].time_s - onsets[i].time_s;
        if (distance_s > farthest_s) break;
        const double near = std::exp(-0.5 * std::pow(distance_s / window_s, 2));
        pairs_.push_back({distance_s, onsets[i].weight * onsets[j].weight * near});
        total_ += pairs_.back().weight;
      }
    }
  }

  double at(double period_s) const {
    double sum = 0;
    for (const Pair& pair : pairs_) {
      sum += pair.weight * std::cos(kTwoPi * pair.distance_s / period_s);
    }
    return total_ > 0 ? sum / total_ : 0;
  }
  // Beats, halves of them, and quarters or thirds.
  double explains(double bpm) const {
    const double beat_s = 60 / bpm;
    return 0.45 * at(beat_s) + 0.4 * at(beat_s / 2) +
           0.15 * std::max(at(beat_s / 4), at(beat_s / 3));
  }

 private:
  struct Pair {
    double distance_s, weight;
  };

  static size_t pairs_within(std::span<const Onset> onsets, double farthest_s) {
    size_t pairs = 0;
    for (size_t first = 0, i = 0; i < onsets.size(); ++i) {
      while (onsets[i].time_s - onsets[first].time_s > farthest_s) ++first;
      pairs += i - first;
    }
    return pairs;
  }

  std::vector<Pair> pairs_;
  double total_ = 0;
};

double pace(double bpm) {
  const double octaves = std::log2(bpm / kPace_bpm) / kPaceDeviation_octaves;
  return std::exp(-0.5 * octaves * octaves);
}

double best_bpm(const Resonance& resonance, double from_bpm, double to_bpm, bool prefers_pace) {
  double best = from_bpm, best_value = -1;
  for (double bpm = from_bpm; bpm <= to_bpm; bpm *= kSearchStep) {
    const double value = std::max(0.0, resonance.explains(bpm)) * (prefers_pace ? pace(bpm) : 1.0);
    if (value <= best_value) continue;
    best = bpm;
    best_value = value;
  }
  return best;
}

// The half-beat level alone, which has no slope at multiples of a quarter beat.
double refine(std::span<const Onset> onsets, double bpm) {
  constexpr int kSteps = 8;
  double step = 0.0025;
  for (double window_s = kSearchWindow_s; window_s <= 16; window_s *= 2, step /= 2) {
    const Resonance resonance(onsets, window_s);
    const double division = resonance.at(20 / bpm) > resonance.at(30 / bpm) ? 20 : 30;
    double best = bpm, best_value = -2;
    for (int i = -kSteps; i <= kSteps; ++i) {
      const double candidate = bpm * (1 + i * step);
      const double value = resonance.at(division / candidate);
      if (value <= best_value) continue;
      best = candidate;
      best_value = value;
    }
    bpm = best;
  }
  return bpm;
}

// How regularly the accents recur: 1 if all strong onsets are a period apart and all weak ones half
// a period off, 0 if the accents do not depend on the position in the period.
double accents_at(std::span<const Onset> onsets, double period_s) {
  double mean = 0;
  for (const Onset& onset : onsets) mean += onset.accent / static_cast<double>(onsets.size());
  std::complex<double> sum = 0;
  double total = 0;
  for (const Onset& onset : onsets) {
    sum += std::polar(1.0, kTwoPi * onset.time_s / period_s) * (onset.accent - mean);
    total += std::abs(onset.accent - mean);
  }
  return total > 0 ? std::abs(sum) / total : 0;
}

std::optional<Tempo> tempo_at(std::span<const Note> notes, std::span<const Onset> onsets,
                              double bpm) {
  const double chance = kChance / std::sqrt(static_cast<double>(onsets.size()));
  const double explains = Resonance(onsets, kSearchWindow_s).explains(bpm);
  if (explains <= chance) return std::nullopt;
  bpm = refine(onsets, bpm);
  const double random_accents = 1 / std::sqrt(static_cast<double>(onsets.size()));
  if (bpm > kFast_bpm && accents_at(onsets, 120 / bpm) > std::max(kAccented, random_accents)) {
    bpm /= 2;
  }
  return Tempo{bpm, find_first_beat(notes, bpm), std::min(1.0, (explains - chance) / (1 - chance))};
}

}  // namespace

std::optional<Tempo> estimate_tempo(std::span<const Note> notes) {
  const auto onsets = onsets_of(notes);
  if (onsets.size() < kMinOnsets) return std::nullopt;
  const Resonance resonance(onsets, kSearchWindow_s);
  return tempo_at(notes, onsets, best_bpm(resonance, kSlowest_bpm, kFastest_bpm, true));
}

Tempo nearest_pulse(std::span<const Note> notes, const Tempo& heard, double bpm) {
  const auto onsets = onsets_of(notes);
  const Resonance resonance(onsets, kSearchWindow_s);
  const double near = best_bpm(resonance, bpm * (1 - kNear), bpm * (1 + kNear), false);
  if (resonance.explains(near) >= kAboutAsGood * resonance.explains(heard.bpm)) {
    const double refined = refine(onsets, near);
    return {refined, find_first_beat(notes, refined), heard.confidence};
  }
  double pulse = heard.bpm;
  while (pulse > bpm * std::numbers::sqrt2) pulse /= 2;
  while (pulse < bpm / std::numbers::sqrt2) pulse *= 2;
  return {pulse, find_first_beat(notes, pulse), heard.confidence};
}

double find_first_beat(std::span<const Note> notes, double bpm) {
  const auto onsets = onsets_of(notes);
  if (onsets.empty()) return 0;
  const double beat_s = 60 / bpm;
  std::complex<double> sum = 0;
  for (const Onset& onset : onsets) {
    sum += std::polar(onset.weight, kTwoPi * onset.time_s / beat_s);
  }
  const double phase_s = std::arg(sum) / kTwoPi * beat_s;
  const double beats = std::round((onsets[0].time_s - phase_s) / beat_s);
  const double first_s = phase_s + beats * beat_s;
  return first_s < 0 ? first_s + beat_s : first_s;
}

}  // namespace hum::pipeline
