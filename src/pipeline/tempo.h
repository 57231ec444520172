// Estimates the tempo of a melody from its onsets. Not supported: beat tracking of recordings with
// drums, and intended tempo changes.
#pragma once

#include <optional>
#include <span>

#include "audio/notes.h"

namespace hum::pipeline {

inline constexpr double kMinTempo_bpm = 20, kMaxTempo_bpm = 400;

// Beats fall on first_beat_s + k * beat_s().
struct Tempo {
  double bpm = 120;
  double first_beat_s = 0;  // the beat nearest to the first note, 0 or later
  double confidence = 0;    // 0..1; 1: all onsets lie on its beats

  double beat_s() const { return 60 / bpm; }
};

// Each pair of onsets votes for the periods that divide its distance, near pairs with more weight;
// of periods that explain the pairs equally well, takes the one nearest to a walking pace. Then
// refines it over longer and longer distances. Of a fast tempo and its half, the accents decide: if
// every second beat is stronger, the half is the tempo. Empty with fewer than four onsets, or when
// no period does better than on random onsets.
// Source: the inter-onset votes of Dixon 2001, "Automatic extraction of tempo and beat"; the
// log-normal prior of Ellis 2007, "Beat tracking by dynamic programming".
std::optional<Tempo> estimate_tempo(std::span<const audio::Note> notes);

// The pulse of a melody that comes nearest to `bpm`, where `heard` is the melody's estimated tempo:
// a tempo near `bpm` if it explains the onsets about as well, else the heard one, doubled or halved
// until it is within a factor of sqrt(2).
Tempo nearest_pulse(std::span<const audio::Note> notes, const Tempo& heard, double bpm);

// Finds the beats of a known tempo; long notes count more. The first beat is the one nearest to the
// first note.
double find_first_beat(std::span<const audio::Note> notes, double bpm);

}  // namespace hum::pipeline
