// Harmonises a melody with one diatonic triad per bar.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"
#include "pipeline/key.h"
#include "pipeline/tempo.h"

namespace hum::pipeline {

struct Chord {
  int root = 0;              // pitch class
  int third = 4, fifth = 7;  // semitones above the root

  // Pitch classes.
  std::array<int, 3> tones() const { return {root, (root + third) % 12, (root + fifth) % 12}; }
  bool operator==(const Chord&) const = default;
};

// "C", "Am", "Bdim"; the root is spelled as in the key.
std::string chord_name(const Chord& chord, const Key& key);

// The seven triads of a key, degree by degree; in minor the fifth degree is major, as in harmonic
// minor.
std::vector<Chord> triads_of(const Key& key);

// Finds the likeliest chords by Viterbi. A chord is likely where its tones sound long and on the
// beat, and after certain chords (I goes to IV, V and vi; V to I); pieces tend to begin and end on
// I. Bars count from the tempo's first beat; notes before it are ignored.
std::vector<Chord> harmonise(std::span<const audio::Note> notes, const Key& key, const Tempo& tempo,
                             int64_t beats_per_bar, int64_t bars);

}  // namespace hum::pipeline
