#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "data/stems/part_kind_impl.h"

namespace hum::data::internal {
namespace {

using audio::Note;

constexpr double kChordPolyphony = 1.5, kBassPolyphony = 1.2;
constexpr double kBassPitch = 43;
constexpr int kTimpani = 47, kOrchestraHit = 55;
constexpr double kBrokenShare = 0.6;  // of bars
constexpr double kEvenRatio = 1.6;    // of the longest to the shortest gap between onsets
constexpr double kEighthSlack = 1.15;
constexpr double kFilledShare = 0.7;  // of a bar, from its first onset to the gap after the last

// Semitones above the root, as bits.
constexpr unsigned bits(std::initializer_list<int> semitones) {
  unsigned result = 0;
  for (const int semitone : semitones) result |= 1U << semitone;
  return result;
}
constexpr std::array kChords = {bits({0, 4, 7}),     bits({0, 3, 7}),     bits({0, 3, 6}),
                                bits({0, 4, 8}),     bits({0, 5, 7}),     bits({0, 4, 7, 10}),
                                bits({0, 4, 7, 11}), bits({0, 3, 7, 10}), bits({0, 3, 6, 10}),
                                bits({0, 3, 6, 9})};

bool is_within(int value, int low, int high) { return value >= low && value <= high; }

// MMA names a track after what it plays, with a suffix if there are several: "Chord-Guitar".
std::optional<PartKind> kind_of_mma(const std::string& track) {
  const std::string word = lower_case(track.substr(0, track.find('-')));
  static constexpr std::pair<const char*, PartKind> kKinds[] = {
      {"drum", PartKind::kDrums},       {"bass", PartKind::kBass},
      {"walk", PartKind::kBass},        {"chord", PartKind::kChordal},
      {"arpeggio", PartKind::kChordal}, {"plectrum", PartKind::kChordal},
      {"scale", PartKind::kOther},      {"solo", PartKind::kLine},
      {"melody", PartKind::kLine},      {"aria", PartKind::kLine}};
  for (const auto& [name, kind] : kKinds) {
    if (word == name) return kind;
  }
  return std::nullopt;
}

struct Figures {
  double polyphony = 0;
  double mean_pitch = 0;  // weighted by length
};

// `notes` in order of their start.
Figures figures_of(std::span<const Note> notes) {
  double length_s = 0, sounding_s = 0, pitch = 0, end_s = 0;
  for (const Note& note : notes) {
    length_s += note.end_s - note.start_s;
    pitch += note.pitch * (note.end_s - note.start_s);
    sounding_s += std::max(0.0, note.end_s - std::max(note.start_s, end_s));
    end_s = std::max(end_s, note.end_s);
  }
  return {length_s / sounding_s, pitch / length_s};
}

bool fits_a_chord(unsigned pitch_classes) {
  for (int root = 0; root < 12; ++root) {
    const unsigned rotated = (pitch_classes >> root | pitch_classes << (12 - root)) & 0xfff;
    for (const unsigned chord : kChords) {
      if ((rotated & ~chord) == 0) return true;
    }
  }
  return false;
}

// Whether the notes are one broken chord that fills a time of `length_s`.
bool is_broken_chord(std::span<const Note> notes, double eighth_s, double length_s) {
  if (notes.size() < 3) return false;
  double shortest_s = length_s, longest_s = 0;
  std::set<int> pitches = {notes[0].pitch};
  unsigned pitch_classes = 1U << (notes[0].pitch % 12);
  for (size_t i = 1; i < notes.size(); ++i) {
    const double gap_s = notes[i].start_s - notes[i - 1].start_s;
    shortest_s = std::min(shortest_s, gap_s);
    longest_s = std::max(longest_s, gap_s);
    pitches.insert(notes[i].pitch);
    pitch_classes |= 1U << (notes[i].pitch % 12);
  }
  const double filled_s = notes.back().start_s + longest_s - notes[0].start_s;
  return pitches.size() >= 3 && fits_a_chord(pitch_classes) &&
         longest_s <= kEvenRatio * shortest_s && longest_s <= kEighthSlack * eighth_s &&
         filled_s >= kFilledShare * length_s;
}

// `notes`: those that start in the bar.
bool is_broken_bar(std::span<const Note> notes, double start_s, double end_s, double eighth_s) {
  const double half_s = (end_s - start_s) / 2;
  const double middle_s = start_s + half_s;
  return is_broken_chord(notes, eighth_s, 2 * half_s) ||
         (is_broken_chord(starting_in(notes, start_s, middle_s), eighth_s, half_s) &&
          is_broken_chord(starting_in(notes, middle_s, end_s), eighth_s, half_s));
}

bool is_broken_chords(const audio::MidiPart& part, const audio::MidiSong& song,
                      std::span<const double> bars) {
  int64_t played = 0, broken = 0;
  for (size_t i = 0; i + 1 < bars.size(); ++i) {
    const double start_s = bars[i] - kEarlyOnset_s, end_s = bars[i + 1] - kEarlyOnset_s;
    const auto notes = starting_in(part.notes, start_s, end_s);
    if (notes.empty()) continue;
    const auto next_tempo =
        std::ranges::upper_bound(song.tempos, bars[i] + 1e-6, {}, &audio::MidiTempo::start_s);
    const double eighth_s = 30 / std::prev(next_tempo)->tempo_bpm;
    ++played;
    broken += is_broken_bar(notes, start_s, end_s, eighth_s) ? 1 : 0;
  }
  return played > 0 && static_cast<double>(broken) >= kBrokenShare * static_cast<double>(played);
}

}  // namespace

std::span<const Note> starting_in(std::span<const Note> notes, double from_s, double to_s) {
  const auto at = [&](double time_s) {
    return std::ranges::lower_bound(notes, time_s, {}, &Note::start_s);
  };
  return {at(from_s), at(to_s)};
}

PartKind kind_of(const audio::MidiPart& part, const audio::MidiSong& song,
                 std::span<const double> bars, TrackNames names) {
  if (part.channel == audio::kDrumChannel || is_within(part.program, 112, 119)) {
    return PartKind::kDrums;
  }
  if (names == TrackNames::kMma) {
    if (const auto kind = kind_of_mma(part.name)) return *kind;
  }
  const Figures figures = figures_of(part.notes);
  const bool is_chords = figures.polyphony >= kChordPolyphony;
  if (is_within(part.program, 52, 54)) return is_chords ? PartKind::kChordal : PartKind::kOther;
  if (is_within(part.program, 96, 103) || part.program >= 120 || part.program == kTimpani ||
      part.program == kOrchestraHit) {
    return PartKind::kOther;
  }
  if (is_within(part.program, 32, 39) ||
      (figures.polyphony < kBassPolyphony && figures.mean_pitch < kBassPitch)) {
    return PartKind::kBass;
  }
  return is_chords || is_broken_chords(part, song, bars) ? PartKind::kChordal : PartKind::kLine;
}

}  // namespace hum::data::internal
