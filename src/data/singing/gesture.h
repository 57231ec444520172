// How one note is sung: its ramps, its glide from the note before, and its ornaments.
#pragma once

#include <cstddef>
#include <span>

#include "data/singing/singer.h"
#include "data/singing/song.h"

namespace hum::data {

struct Gesture {
  double start_s, end_s;  // of the ramps' outer ends
  double attack_s, release_s;
  double gain;
  double floor_before = 0, floor_after = 0;  // level at the outer ends, as a share of the gain
  // From the note before, centred on glide_at_s. Semitones; overshoot: a share of them. It passes
  // half-way between the two notes at half_way_s.
  double glide_at_s = 0, glide_s = 0, from = 0, overshoot = 0, half_way_s = 0;
  double scoop = 0, scoop_s = 0.1, fall = 0, fall_s = 0.1;  // semitones below; negative: above
  double scoop_shape = 1;                                   // -1: rises late, 0: evenly, 1: early
  double scoop_held_s = 0;                                  // of scoop_s, before it rises
  double creep = 0, creep_s = 0.1;                          // semitones off at the beginning
  double vibrato_semitones = 0, vibrato_db = 0, vibrato_from_s = 0, vibrato_hz = 5, phase = 0;
  double swell_db = 0;  // from the beginning to the end
  // A dip within the note that is too small, or too short, to begin another.
  double dip_at_s = -1, dip_s = 0, dip_db = 0, dip_semitones = 0;
  bool is_nasal = false;
  double creak_s = 0;  // at the end
};

// Whether the voice does not stop before note i.
bool follows_without_rest(std::span<const PlannedNote> song, size_t i);

Gesture draw_gesture(std::span<const PlannedNote> song, size_t i, const Singer& singer, Rng& rng);

// The amplitude at a time; 0 outside the note.
double level_of(const Gesture& gesture, double time_s);
// Semitones that scoop, creep, fall and vibrato add to the note's pitch.
double ornament_semitones(const Gesture& gesture, double time_s);
// Semitones that are left of the glide from the note before.
double glide_semitones(const Gesture& gesture, double time_s);

}  // namespace hum::data
