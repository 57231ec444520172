// Keys: estimates a melody's key, reads and writes key names, and moves notes into a key.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/notes.h"
#include "data/synthesis/melody.h"

namespace hum::pipeline {

struct Key {
  int tonic = 0;  // pitch class, 0 is C
  data::Mode mode = data::Mode::kIonian;

  bool operator==(const Key&) const = default;
};

// Parses "C:minor", "F#:major", "bb:dorian"; "C" alone is major, "Cm" minor, and minor is
// aeolian.
// Throws: kUsage with the known modes.
Key parse_key(std::string_view text);
// Formats "C:minor", "Bb:major", "D:dorian"; the tonic is spelled as in the key's signature.
std::string key_name(const Key& key);
// Spells a pitch (a MIDI number, or a pitch class) in a key: "Eb" in C minor, "D#" in E minor.
std::string pitch_name(const Key& key, int pitch);

// Whether a pitch (a MIDI number) belongs to the key's seven notes.
bool in_key(const Key& key, int pitch);

// The key signature of MIDI files: the sharps or flats of the key's seven notes, in the spelling
// with fewer of them. Six are flats in minor (Eb), else sharps (F#). Only the aeolian mode is
// minor, because files have no other modes.
audio::KeySignature key_signature(const Key& key);

struct KeyEstimate {
  Key key;                 // major or minor
  double correlation = 0;  // with its profile, -1..1
  // Margin over the best other key, 0..1: below 0.05 it is a guess.
  double margin = 0;
};

// The key whose profile fits the duration of each pitch class. Empty with fewer than five notes.
// Source: Krumhansl & Kessler 1982, profiles; Krumhansl & Schmuckler, correlation.
std::optional<KeyEstimate> estimate_key(std::span<const audio::Note> notes);

// Moves notes outside the key to the nearest note in it, with their bends; of two equally near ones
// to the side that the bends lean to, else down. Returns how many moved.
int64_t snap_to_key(std::span<audio::Note> notes, const Key& key);

}  // namespace hum::pipeline
