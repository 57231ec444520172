// What a synthetic singer sings: notes, and how each follows the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "data/singing/singer.h"

namespace hum::data {

enum class Join {
  kRest,       // silence before it, or the beginning; with a consonant, noise at its end
  kSlur,       // the voice glides on
  kStop,       // a closed mouth, then a burst ("ta")
  kFricative,  // noise without voice ("sa")
  kDip         // the voice goes on, softer ("ma", or a hummed repetition)
};

struct PlannedNote {
  double start_s = 0, end_s = 0;
  double pitch = 60;    // MIDI, before the singer's tuning; free melodies have fractions
  double level_db = 0;  // against the singer's usual level
  Join join = Join::kRest;
  double consonant_s = 0;  // before start_s: the closure, noise or dip
  double dip_db = 0;       // of kDip
  double glide_s = 0;      // of kSlur within a melisma, quick; 0: the singer's usual time
};

// Plans a song of `seconds`. Half of the songs are composed (make_melody: keys, metres, motifs),
// half are free: any pitch, notes of 80 ms to 5 s, leaps up to two octaves, rests up to 5 s. Notes
// do not overlap, and two joined notes of one pitch have a consonant or a dip between them.
// Melismas split notes of either kind.
std::vector<PlannedNote> plan_song(const Singer& singer, double seconds, uint64_t seed,
                                   uint64_t index);

// Draws how the notes of a melody, in order and without overlaps, follow each other: it sets `join`
// and the fields that belong to it, and takes consonants' time from the note before.
void plan_joins(std::vector<PlannedNote>& notes, const Singer& singer, Rng& rng);

}  // namespace hum::data
