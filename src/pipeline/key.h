// Keys: what a melody's key is, how keys are written, and moving notes into one.
#pragma once

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

// "C:minor", "F#:major", "bb:dorian"; "C" alone is major, minor is aeolian.
// Throws: kUsage with the modes there are.
Key parse_key(std::string_view text);
// "C:minor", "Bb:major", "D:dorian".
std::string key_name(const Key& key);

// Whether a pitch (a MIDI number) belongs to the key's seven notes.
bool in_key(const Key& key, int pitch);

// As MIDI files have it: the sharps or flats of the key's seven notes; of the two spellings the one
// with fewer, six are sharps. Minor keys alone are called minor: files know no other modes.
audio::KeySignature key_signature(const Key& key);

struct KeyEstimate {
  Key key;                 // major or minor
  double correlation = 0;  // with its profile, -1..1
  // How much better it is than the best other key, 0..1: below 0.05 a coin might as well decide.
  double margin = 0;
};

// The key whose profile fits the time given to each pitch class. Without notes: C major at 0.
// Source: Krumhansl & Kessler 1982, profiles; Krumhansl & Schmuckler, correlation.
KeyEstimate estimate_key(std::span<const audio::Note> notes);

// Notes outside the key move to the nearest note in it, with their bends: where two are as near, to
// the side that the bends lean to, else down. Returns how many moved.
int64_t snap_to_key(std::span<audio::Note> notes, const Key& key);

}  // namespace hum::pipeline
