// A synthetic singer: turns a melody into a hum with the sound and the errors of a real one, as
// input for Basic Pitch. It has one to four formants on a harmonic source and no words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// The singer's range; melodies are sung in the octave that fits, see octave_shift.
inline constexpr int kHumLow = 45;   // A2
inline constexpr int kHumHigh = 74;  // D5

// Properties of a performance that a caller can fix; the defaults leave them to the singer.
struct HumManner {
  bool exact_onsets = false;           // no onset jitter: every note begins at its written time
  std::optional<double> tuning_cents;  // instead of an offset within 15 cents
  // Joins adjacent notes: the voice continues, pitch and loudness glide, and only the consonant, a
  // dip of 4 to 26 dB, marks a repeated pitch.
  bool legato = false;
};

// Renders one voice (of chords, the highest note) with glides between notes, vibrato, slow drift,
// onset jitter of 20 ms, a tuning offset within 15 cents, consonants, breaths in rests and room
// noise. The loudness of each note follows its amplitude (4 velocity steps per dB, see level.h).
// The notes should be within kHumLow..kHumHigh. The same (notes, seconds, seed, index) give the
// same samples, and a manner changes only its own property. Shapes: [seconds * 22050].
std::vector<float> render_hum(std::span<const audio::Note> notes, double seconds, uint64_t seed,
                              uint64_t index, const HumManner& manner = {});

// The notes in what render_hum sings, by the rules of sung_note.h: later by half a glide or attack
// than written, and joined where only a shallow dip parts two of the same pitch. Without chords'
// lower voices.
std::vector<audio::Note> notes_of_hum(std::span<const audio::Note> notes, uint64_t seed,
                                      uint64_t index, const HumManner& manner = {});

}  // namespace hum::data
