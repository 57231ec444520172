#include "data/synthesis/melody.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/rng.h"
#include "data/synthesis/bends_impl.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

constexpr std::array<std::string_view, kModes> kModeNames = {
    "ionian", "dorian", "phrygian", "lydian", "mixolydian", "aeolian", "locrian"};
constexpr std::array kIonianSteps = {0, 2, 4, 5, 7, 9, 11};
constexpr int kDegrees = 7;
// The shortest note: shorter ones are not heard as a pitch, and transcription drops them.
constexpr double kShortest_s = 0.09;

// A choice among rows of {weight, value}.
template <typename T, size_t N>
T pick(Rng& rng, const std::array<std::pair<double, T>, N>& rows) {
  double total = 0;
  for (const auto& [weight, unused] : rows) total += weight;
  double place = rng.uniform() * total;
  for (const auto& [weight, value] : rows) {
    place -= weight;
    if (place < 0) return value;
  }
  return rows.back().second;
}

// The parameters that are constant during a melody.
struct Style {
  Mode mode;
  int tonic;
  double tempo_bpm;
  int lowest, highest;  // the register, within the preset's range
  double busy;          // 0: long notes, 1: short ones
  double leap, repeat;  // chances per note
  double gate;          // share of a note's time that sounds
  double swing_s;       // deviation of onsets from the grid
  double loud_arc;      // velocity steps from a phrase's edge to its middle
  bool expressive, chords;
};

Style make_style(Rng& rng, const Preset& preset, const MelodyOptions& options) {
  Style style{};
  style.mode = static_cast<Mode>(rng.integer(0, kModes - 1));
  style.tonic = static_cast<int>(rng.integer(0, 11));
  style.tempo_bpm = rng.uniform(70, 150);
  const int span = std::min<int>(preset.high - preset.low, static_cast<int>(rng.integer(12, 22)));
  style.lowest = static_cast<int>(rng.integer(preset.low, preset.high - span));
  style.highest = style.lowest + span;
  style.busy = rng.uniform();
  style.leap = rng.uniform(0.05, 0.22);
  style.repeat = rng.uniform(0.05, 0.2);
  style.gate = pick<double, 4>(
      rng, {{{0.15, 0.45}, {0.2, 0.7}, {0.3, 0.9}, {0.35, 1.0}}});  // staccato ... legato
  style.swing_s = rng.uniform(0, 0.012);
  style.loud_arc = rng.uniform(4, 24);
  style.expressive = rng.chance(options.expressive_share);
  style.chords = rng.chance(options.chord_share) && preset.polyphonic;
  return style;
}

int pitch_of(const Style& style, int step) {
  const int octave = static_cast<int>(std::floor(static_cast<double>(step) / kDegrees));
  return style.tonic + 12 * octave + mode_semitone(style.mode, step - octave * kDegrees);
}

bool in_register(const Style& style, int step) {
  const int pitch = pitch_of(style, step);
  return pitch >= style.lowest && pitch <= style.highest;
}

// A random walk over the scale. `step` counts scale degrees from the tonic of octave 0.
class Walk {
 public:
  Walk(Rng& rng, const Style& style) : rng_(rng), style_(style) {
    const int middle = (style.lowest + style.highest) / 2;
    while (pitch_of(style, step_) < middle) ++step_;
  }

  int next(bool phrase_end) {
    int step = step_ + interval();
    if (phrase_end) step = nearest_rest(step);
    if (!in_register(style_, step)) step = step_ - (step - step_);
    if (!in_register(style_, step)) step = step_;
    last_interval_ = step - step_;
    step_ = step;
    return step_;
  }

 private:
  int interval() {
    if (rng_.chance(style_.repeat)) return 0;
    if (rng_.chance(style_.leap)) return static_cast<int>(rng_.integer(3, 7)) * sign();
    // After a leap, a step back.
    if (std::abs(last_interval_) >= 3) return last_interval_ > 0 ? -1 : 1;
    return (rng_.chance(0.25) ? 2 : 1) * sign();
  }

  int sign() {
    const double middle = (style_.lowest + style_.highest) / 2.0;
    const double pull = (pitch_of(style_, step_) - middle) / (style_.highest - style_.lowest);
    return rng_.chance(0.5 - 0.6 * pull) ? 1 : -1;
  }

  // The nearest first, third or fifth degree.
  static int nearest_rest(int step) {
    const int degree = ((step % kDegrees) + kDegrees) % kDegrees;
    constexpr std::array kMoves = {0, -1, 0, 1, 0, -1, 1};
    return step + kMoves[degree];
  }

  Rng& rng_;
  const Style& style_;
  int step_ = 0;
  int last_interval_ = 0;
};

// Beats from one onset to the next.
double draw_beats(Rng& rng, const Style& style) {
  const double quick = style.tempo_bpm < 110 ? style.busy : 0;  // sixteenths only at slow tempi
  return pick<double, 7>(rng, {{{0.5 * quick, 0.25},
                                {0.08, 1.0 / 3},
                                {0.3 + style.busy, 0.5},
                                {0.12, 0.75},
                                {0.9, 1.0},
                                {0.15 + 0.2 * (1 - style.busy), 1.5},
                                {0.25 * (1 - style.busy) + 0.03, 2.0}}});
}

struct Phrase {
  int64_t notes = 0, played = 0;
  double velocity = 0;

  static Phrase draw(Rng& rng) { return {rng.integer(4, 9), 0, rng.uniform(70, 90)}; }
  bool at_end() const { return played + 1 >= notes; }
  // Loudest in the middle.
  double arc() const {
    const double place = (static_cast<double>(played) + 0.5) / static_cast<double>(notes);
    return std::sin(std::numbers::pi * place) - 0.6;
  }
};

class Composer {
 public:
  Composer(Rng& rng, const Style& style, double seconds)
      : rng_(rng), style_(style), seconds_(seconds), walk_(rng, style) {}

  std::vector<audio::Note> compose() {
    const double beat_s = 60 / style_.tempo_bpm;
    double at_s = rng_.chance(0.5) ? 0 : rng_.uniform(0, 0.4);
    auto phrase = Phrase::draw(rng_);
    while (at_s < seconds_ - kShortest_s) {
      const double length_s = std::max(kShortest_s, draw_beats(rng_, style_) * beat_s);
      add_note(at_s, length_s, phrase);
      at_s += length_s;
      const bool ended = phrase.at_end();
      if (rng_.chance(ended ? 0.7 : 0.04)) at_s += beat_s * (rng_.chance(0.5) ? 0.5 : 1);
      ++phrase.played;
      if (ended) phrase = Phrase::draw(rng_);
    }
    return std::move(notes_);
  }

 private:
  void add_note(double at_s, double length_s, const Phrase& phrase) {
    const bool accent = rng_.chance(0.1);
    audio::Note note;
    note.pitch = pitch_of(style_, walk_.next(phrase.at_end()));
    note.start_s = std::clamp(at_s + style_.swing_s * rng_.normal(), earliest_s_,
                              std::max(earliest_s_, seconds_ - kShortest_s));
    // A phrase ends on a held note; other notes keep the melody's articulation within 10 %.
    const double gate = phrase.at_end() ? 1 : std::min(1.0, style_.gate * rng_.uniform(0.9, 1.1));
    note.end_s = std::min(seconds_, note.start_s + std::max(kShortest_s, length_s * gate));
    earliest_s_ = note.start_s + kShortest_s;
    if (!notes_.empty()) shorten_before(note);
    const double velocity =
        phrase.velocity + style_.loud_arc * phrase.arc() + (accent ? 10 : 0) + 3 * rng_.normal();
    note.amplitude = std::clamp(velocity, kVelocityLow, kVelocityHigh) / 127;
    if (style_.expressive) {
      note.bends = internal::draw_bends(rng_, note, notes_.empty() ? nullptr : &notes_.back());
    }
    if (style_.chords && rng_.chance(0.4)) add_chord(note);
    notes_.push_back(note);  // the melody's note comes last, so that back() is the melody
  }

  // Swing may move an onset into the previous note.
  void shorten_before(const audio::Note& next) {
    for (auto it = notes_.rbegin(); it != notes_.rend() && it->end_s > next.start_s; ++it) {
      const double before_s = it->end_s - it->start_s;
      it->end_s = next.start_s;
      internal::trim_bends(*it, before_s);
    }
  }

  // Thirds below the melody, on the scale.
  void add_chord(const audio::Note& top) {
    int step = 0;
    while (pitch_of(style_, step) < top.pitch) ++step;
    const int64_t voices = rng_.integer(1, 2);
    for (int64_t voice = 1; voice <= voices; ++voice) {
      audio::Note note = top;
      note.pitch = pitch_of(style_, step - 2 * static_cast<int>(voice));
      note.amplitude = std::max(kVelocityLow / 127, top.amplitude - 8.0 / 127);
      note.bends.clear();
      if (note.pitch >= style_.lowest) notes_.push_back(note);
    }
  }

  Rng& rng_;
  const Style& style_;
  double seconds_;
  Walk walk_;
  std::vector<audio::Note> notes_;
  double earliest_s_ = 0;
};

}  // namespace

std::string_view mode_name(Mode mode) { return kModeNames[static_cast<int>(mode)]; }

int mode_semitone(Mode mode, int degree) {
  HUM_REQUIRE(degree >= 0 && degree < kDegrees, "mode_semitone: degree {} is not in 0..6", degree);
  // Each mode is the major scale started on another degree.
  const int first = static_cast<int>(mode);
  const int place = first + degree;
  return kIonianSteps[place % kDegrees] + 12 * (place / kDegrees) - kIonianSteps[first];
}

Melody make_melody(uint64_t seed, uint64_t index, const Preset& preset,
                   const MelodyOptions& options) {
  HUM_REQUIRE(options.seconds >= 0.5, "make_melody: {} s is too short", options.seconds);
  Rng rng(seed, "melody", index);
  const Style style = make_style(rng, preset, options);
  Melody melody{.notes = Composer(rng, style, options.seconds).compose(),
                .mode = style.mode,
                .tonic = style.tonic,
                .tempo_bpm = style.tempo_bpm,
                .expressive = style.expressive,
                .chords = style.chords};
  std::ranges::stable_sort(melody.notes, {}, [](const audio::Note& note) { return note.start_s; });
  centre_velocities(melody.notes);
  return melody;
}

}  // namespace hum::data
