#include "pipeline/accompaniment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "base/error.h"

namespace hum::pipeline {
namespace {

using audio::Note;

// Keys of the drum kit.
constexpr int kKick = 36, kSideStick = 37, kSnare = 38, kClosedHat = 42, kPedalHat = 44,
              kCrash = 49, kRide = 51;
constexpr int kLowestBass = 28, kHighestBass = 47;
constexpr int kLowestVoice = 52, kHighestVoice = 74, kMiddle = 62;

// A hit within a bar. `part`: of the chord (0 root, 1 third, 2 fifth, kAll, kApproach), or a key of
// the drum kit.
struct Hit {
  double beat, beats;
  int part;
  double amplitude;
};
constexpr int kAll = 3, kApproach = 4;

struct Pattern {
  int bass_program, chord_program;
  std::vector<Hit> bass, chords, drums;
};

constexpr double kSwung = 2.0 / 3;

const Pattern& pattern_of(Style style) {
  static const Pattern kPop = {
      33,
      4,
      {{0, 1.4, 0, .8}, {1.5, .45, 0, .65}, {2, 1.4, 0, .75}, {3.5, .45, 2, .6}},
      {{0, 1.4, kAll, .55}, {1.5, .9, kAll, .45}, {2.5, 1.4, kAll, .5}},
      {{0, .2, kKick, .85},
       {2, .2, kKick, .8},
       {2.5, .2, kKick, .6},
       {1, .2, kSnare, .8},
       {3, .2, kSnare, .8},
       {0, .2, kClosedHat, .6},
       {.5, .2, kClosedHat, .4},
       {1, .2, kClosedHat, .55},
       {1.5, .2, kClosedHat, .4},
       {2, .2, kClosedHat, .6},
       {2.5, .2, kClosedHat, .4},
       {3, .2, kClosedHat, .55},
       {3.5, .2, kClosedHat, .45}}};
  static const Pattern kBallad = {32,
                                  0,
                                  {{0, 1.9, 0, .7}, {2, 1.9, 2, .6}},
                                  {{0, 3.8, 0, .5},
                                   {.5, 3.3, 1, .4},
                                   {1, 2.8, 2, .42},
                                   {1.5, .5, 1, .38},
                                   {2, 1.8, 0, .45},
                                   {2.5, 1.3, 1, .38},
                                   {3, .9, 2, .42},
                                   {3.5, .45, 1, .38}},
                                  {{0, .2, kKick, .6},
                                   {2, .2, kSideStick, .5},
                                   {0, .2, kClosedHat, .35},
                                   {1, .2, kClosedHat, .3},
                                   {2, .2, kClosedHat, .35},
                                   {3, .2, kClosedHat, .3}}};
  static const Pattern kSwing = {
      32,
      0,
      {{0, .9, 0, .75}, {1, .9, 1, .65}, {2, .9, 2, .7}, {3, .9, kApproach, .65}},
      {{0, .5, kAll, .5}, {1 + kSwung, .4, kAll, .5}},
      {{0, .2, kRide, .6},
       {1, .2, kRide, .65},
       {1 + kSwung, .2, kRide, .45},
       {2, .2, kRide, .6},
       {3, .2, kRide, .65},
       {3 + kSwung, .2, kRide, .45},
       {1, .2, kPedalHat, .55},
       {3, .2, kPedalHat, .55},
       {0, .2, kKick, .45},
       {2, .2, kKick, .4}}};
  if (style == Style::kBallad) return kBallad;
  return style == Style::kSwing ? kSwing : kPop;
}

// The lowest pitch of a class within [low, high].
int at_least(int pitch_class, int low) { return low + ((pitch_class - low) % 12 + 12) % 12; }

int bass_pitch(const Chord& chord, const Chord& next, int part) {
  const int root = at_least(chord.root, kLowestBass);
  if (part == kApproach) {  // a semitone below the next root, or above when that is too low
    const int target = at_least(next.root, kLowestBass);
    return target - 1 >= kLowestBass ? target - 1 : target + 1;
  }
  const int pitch = root + (part == 1 ? chord.third : part == 2 ? chord.fifth : 0);
  return pitch > kHighestBass ? pitch - 12 : pitch;
}

using Voicing = std::array<int, 3>;

// Ascending, in close position: the inversion that moves least from the previous voicing.
Voicing voice(const Chord& chord, const Voicing& before) {
  const auto tones = chord.tones();
  Voicing best{};
  int least = std::numeric_limits<int>::max();
  for (int lowest = kLowestVoice; lowest + 12 <= kHighestVoice; ++lowest) {
    if (std::ranges::find(tones, lowest % 12) == tones.end()) continue;
    Voicing voicing;
    for (size_t i = 0; i < 3; ++i) voicing[i] = at_least(tones[i], lowest);
    std::ranges::sort(voicing);
    int moves = 0;
    for (size_t i = 0; i < 3; ++i) moves += std::abs(voicing[i] - before[i]);
    if (moves >= least) continue;
    least = moves;
    best = voicing;
  }
  return best;
}

class Band {
 public:
  Band(std::span<const Chord> chords, const Tempo& tempo, int64_t beats_per_bar, Style style)
      : chords_(chords),
        tempo_(tempo),
        beats_(static_cast<double>(beats_per_bar)),
        pattern_(pattern_of(style)) {}

  Accompaniment play() {
    result_.bass_program = pattern_.bass_program;
    result_.chord_program = pattern_.chord_program;
    for (size_t bar = 0; bar < chords_.size(); ++bar) {
      voicing_ = voice(chords_[bar], voicing_);
      bar + 1 == chords_.size() ? hold(bar) : fill(bar);
    }
    for (auto* part : {&result_.bass, &result_.chords, &result_.drums}) {
      std::ranges::stable_sort(*part, {}, &Note::start_s);
    }
    return std::move(result_);
  }

 private:
  void add(std::vector<Note>& part, size_t bar, const Hit& hit, int pitch) const {
    if (hit.beat >= beats_) return;  // patterns have four beats, the bar may have three
    const double beat = static_cast<double>(bar) * beats_ + hit.beat;
    const double start_s = tempo_.first_beat_s + beat * tempo_.beat_s();
    const double beats = std::min(hit.beats, beats_ - hit.beat);
    part.push_back({start_s, start_s + beats * tempo_.beat_s(), pitch, hit.amplitude, {}});
  }

  void fill(size_t bar) {
    const Chord& next = chords_[bar + 1];
    for (const Hit& hit : pattern_.bass) {
      add(result_.bass, bar, hit, bass_pitch(chords_[bar], next, hit.part));
    }
    for (const Hit& hit : pattern_.chords) {
      for (int i = 0; i < 3; ++i) {
        if (hit.part == kAll || hit.part == i) {
          add(result_.chords, bar, hit, voicing_[static_cast<size_t>(i)]);
        }
      }
    }
    for (const Hit& hit : pattern_.drums) add(result_.drums, bar, hit, hit.part);
    if (bar == 0) add(result_.drums, bar, {0, .2, kCrash, .5}, kCrash);
  }

  // The last bar: one long chord.
  void hold(size_t bar) {
    add(result_.bass, bar, {0, beats_, 0, .75}, bass_pitch(chords_[bar], chords_[bar], 0));
    for (const int pitch : voicing_) add(result_.chords, bar, {0, beats_, kAll, .55}, pitch);
    add(result_.drums, bar, {0, .2, kKick, .7}, kKick);
    add(result_.drums, bar, {0, .2, kCrash, .5}, kCrash);
  }

  std::span<const Chord> chords_;
  const Tempo& tempo_;
  double beats_;
  const Pattern& pattern_;
  Voicing voicing_ = {kMiddle - 4, kMiddle, kMiddle + 4};
  Accompaniment result_;
};

}  // namespace

Accompaniment accompany(std::span<const Chord> chords, const Tempo& tempo, int64_t beats_per_bar,
                        Style style) {
  HUM_REQUIRE(!chords.empty() && beats_per_bar > 0, "accompany: {} bars of {} beats", chords.size(),
              beats_per_bar);
  return Band(chords, tempo, beats_per_bar, style).play();
}

}  // namespace hum::pipeline
