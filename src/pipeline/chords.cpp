#include "pipeline/chords.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using audio::Note;

constexpr size_t kDegrees = 7;
// Approximate frequency with which one degree follows another in songs.
constexpr double kFollows[kDegrees][kDegrees] = {
    {.20, .10, .05, .25, .22, .16, .02}, {.08, .08, .04, .12, .52, .12, .04},
    {.08, .10, .05, .30, .10, .35, .02}, {.28, .12, .03, .12, .32, .10, .03},
    {.45, .03, .04, .12, .12, .22, .02}, {.12, .20, .08, .32, .20, .06, .02},
    {.60, .03, .08, .05, .10, .12, .02}};
// Weights of the first and last chord of the piece.
constexpr double kBegins[kDegrees] = {.70, .04, .02, .08, .08, .07, .01};
constexpr double kEnds[kDegrees] = {.80, .02, .01, .04, .08, .04, .01};
// The weight of a bar full of chord tones, in nats.
constexpr double kWeight = 6;
constexpr double kRootShare = 1.15, kOutsideShare = -0.6, kOnBeatShare = 1.5;

// How well a chord fits the notes in [from_s, to_s), in nats.
double fits(std::span<const Note> notes, const Chord& chord, double from_s, double to_s) {
  const auto tones = chord.tones();
  double sum = 0, total = 0;
  for (const Note& note : notes) {
    const double sounds_s = std::min(note.end_s, to_s) - std::max(note.start_s, from_s);
    if (sounds_s <= 0) continue;
    const bool on_beat = std::abs(note.start_s - from_s) < 0.05 * (to_s - from_s);
    const double weight = sounds_s * (on_beat ? kOnBeatShare : 1);
    const int pitch_class = note.pitch % 12;
    const bool is_tone = std::ranges::find(tones, pitch_class) != tones.end();
    sum += weight * (pitch_class == chord.root ? kRootShare : is_tone ? 1 : kOutsideShare);
    total += weight;
  }
  return total > 0 ? kWeight * sum / std::max(total, 0.25 * (to_s - from_s)) : 0;
}

}  // namespace

std::string chord_name(const Chord& chord, const Key& key) {
  const std::string name = pitch_name(key, chord.root);
  if (chord.third == 4) return name + (chord.fifth == 8 ? "aug" : "");
  return name + (chord.fifth == 6 ? "dim" : "m");
}

std::vector<Chord> triads_of(const Key& key) {
  std::vector<Chord> chords;
  auto semitone = [&](int step) {
    return data::mode_semitone(key.mode, step % 7) + 12 * (step / 7);
  };
  for (int degree = 0; degree < 7; ++degree) {
    const int root = semitone(degree);
    chords.push_back(
        {(key.tonic + root) % 12, semitone(degree + 2) - root, semitone(degree + 4) - root});
  }
  if (key.mode == data::Mode::kAeolian) chords[4].third = 4;
  return chords;
}

std::vector<Chord> harmonise(std::span<const Note> notes, const Key& key, const Tempo& tempo,
                             int64_t beats_per_bar, int64_t bars) {
  HUM_REQUIRE(beats_per_bar > 0 && bars > 0, "harmonise: {} bars of {} beats", bars, beats_per_bar);
  const auto chords = triads_of(key);
  const double bar_s = tempo.beat_s() * static_cast<double>(beats_per_bar);
  std::vector<std::array<double, kDegrees>> scores;
  std::vector<std::array<size_t, kDegrees>> before;
  for (int64_t bar = 0; bar < bars; ++bar) {
    const double from_s = tempo.first_beat_s + static_cast<double>(bar) * bar_s;
    auto& score = scores.emplace_back();
    auto& from = before.emplace_back();
    for (size_t d = 0; d < kDegrees; ++d) {
      score[d] = std::log(kBegins[d]);
      if (bar > 0) {
        const auto& last = scores[static_cast<size_t>(bar) - 1];
        auto arrive = [&](size_t i) { return last[i] + std::log(kFollows[i][d]); };
        for (size_t i = 1; i < kDegrees; ++i) {
          if (arrive(i) > arrive(from[d])) from[d] = i;
        }
        score[d] = arrive(from[d]);
      }
      score[d] += fits(notes, chords[d], from_s, from_s + bar_s);
      if (bar + 1 == bars) score[d] += std::log(kEnds[d]);
    }
  }
  auto at = static_cast<size_t>(std::ranges::max_element(scores.back()) - scores.back().begin());
  std::vector<Chord> result(static_cast<size_t>(bars));
  for (size_t bar = result.size(); bar-- > 0;) {
    result[bar] = chords[at];
    at = before[bar][at];
  }
  return result;
}

}  // namespace hum::pipeline
