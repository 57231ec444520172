// A made-up singer: turns a melody into a hum that sounds and errs like one, for Basic Pitch to
// read. Not a speech synthesiser: one to four formants on a harmonic source, no words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// Where the singer's voice lies; melodies are sung in the octave that fits, see octave_shift.
inline constexpr int kHumLow = 45;   // A2
inline constexpr int kHumHigh = 74;  // D5

// What a caller may fix of a performance; as it stands the singer is free.
struct HumManner {
  bool exact_onsets = false;           // no onset jitter: every note begins where it is written
  std::optional<double> tuning_cents;  // instead of an offset within 15 cents
  // Notes that follow at once are joined: the voice goes on, pitch and loudness glide, and a
  // repeated pitch is told by its consonant alone, a dip of 4 to 26 dB.
  bool legato = false;
};

// One voice (of chords, the highest note) with glides between notes, vibrato, slow drift, onset
// jitter of 20 ms, a tuning offset within 15 cents, consonants, breaths in the rests and a room's
// noise. The loudness of each note follows its amplitude (4 velocity steps a dB, see level.h). The
// notes should lie within kHumLow..kHumHigh. The same (notes, seconds, seed, index) give the same
// samples, and a manner changes nothing else in them. Shapes: [seconds * 22050].
std::vector<float> render_hum(std::span<const audio::Note> notes, double seconds, uint64_t seed,
                              uint64_t index, const HumManner& manner = {});

}  // namespace hum::data
