// What a note of a voice is. The synthetic singers label notes so, the ear's decoder finds them so,
// and the bars judge them so.
//
// - A note begins where its own pitch is voiced. The noise of a consonant before it belongs to no
//   note; a scoop up to its pitch belongs to it.
// - In a slur it begins where the glide passes half-way between the two pitches.
// - A repeated note begins where the level rises again after a dip of at least 6 dB, half-way up in
//   dB. The dip, with its slopes, lasts at least 30 ms. Smaller or shorter dips (nasals, voiced
//   consonants, a level that wavers) are part of one note.
// - It ends where its voice ends, 20 dB below the note, not where the room falls silent.
// - Its sung pitch is the median of its steady part: the note without its first quarter and its
//   last 15 %. Vibrato, scoops, glides and a pitch
//   that settles late do not change it.
#pragma once

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"

namespace hum::data {

struct SungNote {
  double start_s = 0, end_s = 0;
  double hz = 0;  // sung pitch

  bool operator==(const SungNote&) const = default;
};

inline constexpr double kRepeatDip_db = 6, kRepeatDip_s = 0.03;
inline constexpr double kVoiceEnd_db = -20;
inline constexpr double kSteadyFrom = 0.25, kSteadyTo = 0.85;

// Where on the ramp between a floor and a note's full level the note begins or ends: half-way in
// dB, or kVoiceEnd_db below the note if that is later. In s from the floor. `floor`: amplitude, a
// share of the note's, under 1; 0: silence. `ramp_s`: the length of the linear ramp.
inline double edge_of_ramp_s(double ramp_s, double floor) {
  const double level = std::max(audio::from_db(kVoiceEnd_db), std::sqrt(floor));
  return ramp_s * (level - floor) / (1 - floor);
}

}  // namespace hum::data
