// Which stem each part of a song belongs to, decided from its notes and tracks alone. Training
// material for separation is rendered by these roles. Not here: how a stem sounds.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "audio/midi.h"
#include "base/enum_names.h"

namespace hum::data {

enum class Stem { kDrums, kBass, kVocals, kLead, kChordal, kOther };
inline constexpr std::array kStems = {Stem::kDrums, Stem::kBass,    Stem::kVocals,
                                      Stem::kLead,  Stem::kChordal, Stem::kOther};
inline constexpr size_t kStemCount = kStems.size();
inline constexpr int kStemRate = 44100;  // samples per second of all stems
inline EnumNames<Stem> enum_names(Stem) {
  static constexpr std::pair<Stem, std::string_view> kNames[] = {
      {Stem::kDrums, "drums"}, {Stem::kBass, "bass"},       {Stem::kVocals, "vocals"},
      {Stem::kLead, "lead"},   {Stem::kChordal, "chordal"}, {Stem::kOther, "other"}};
  return kNames;
}

struct RoleSpan {
  double start_s = 0;  // until the next span's start
  Stem stem = Stem::kOther;

  bool operator==(const RoleSpan&) const = default;
};

// The roles of a part, in order; the first span starts at 0. A note belongs to the span in which it
// starts. Spans of lines start kEarlyOnset_s before their bar line, for notes played early.
using PartRoles = std::vector<RoleSpan>;
inline constexpr double kEarlyOnset_s = 0.05;
Stem stem_at(const PartRoles& roles, double time_s);

enum class TrackNames {
  kIgnored,
  kMma,  // the tracks of MMA, which are named after what they play: "Chord-Guitar", "Walk"
};

struct RoleOptions {
  TrackNames names = TrackNames::kIgnored;
  // A voice sings the lead, so that it is the stem `vocals`. Instruments that double it stay lead.
  bool lead_is_sung = false;
};

// One role list per part of the song. Throws: kFailure for a part without notes.
//
// Polyphony P is the sum of a part's note lengths over the time in which it sounds. The first rule
// that applies to a part decides:
//   drums    channel 10, or programs 112 to 119 (0-based)
//   MMA      Drum: drums; Bass, Walk: bass; Chord, Arpeggio, Plectrum: chordal; Scale: other;
//            Solo, Melody, Aria: a line
//   voices   programs 52 to 54: chordal if P >= 1.5, else other
//   other    programs 96 to 103 and 120 to 127, timpani, orchestra hits
//   bass     programs 32 to 39, or P < 1.2 and a mean pitch below MIDI 43
//   chordal  P >= 1.5, or broken chords: bars, or both their halves, of even eighths or faster that
//            stay within one triad or seventh chord are at least 60 % of the bars it plays in
//   line     all others
// In each window of four bars, the lead is the line with the highest sum of mean pitch in semitones
// and level in dB, of those with four notes and two pitches or more there. No line is lead, or
// stops being it, for less than eight bars; more windows with a lead are better than a higher one.
// Lines that double the lead at the unison or octave are lead with it, and all others are other.
std::vector<PartRoles> roles_of(const audio::MidiSong& song, const RoleOptions& options = {});

}  // namespace hum::data
