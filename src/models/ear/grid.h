// The ear's frames and pitches. Frame t is centred on (t + 1/2) kHop.
#pragma once

#include <cstdint>

namespace hum::models::ear {

inline constexpr int64_t kSampleRateHz = 22050;
inline constexpr int64_t kHop = 220;  // 9.98 ms

// Semitones of the pitch grid: D#1, 38.9 Hz, to C8, 4186 Hz.
inline constexpr int64_t kLowest = 27, kSemitones = 82;
// Spectra have three bins a semitone, the middle one at its pitch.
inline constexpr int64_t kBins = 3 * kSemitones;
// Posteriors have five bins of 20 cents, the middle one at the semitone's pitch.
inline constexpr int64_t kPitchesPerSemitone = 5;
inline constexpr int64_t kPitches = kPitchesPerSemitone * kSemitones;

// The steady part of a note, whose median is the sung pitch: data/synthesis/sung_note.h.
inline constexpr double kSteadyFrom = 0.25, kSteadyTo = 0.85;

inline double frame_s(double frame) {
  return (frame + 0.5) * static_cast<double>(kHop) / static_cast<double>(kSampleRateHz);
}
// The bin of a MIDI pitch on the grid of posteriors, with fractions; and back.
inline double pitch_bin(double midi) {
  return (midi - static_cast<double>(kLowest)) * static_cast<double>(kPitchesPerSemitone) + 2;
}
inline double pitch_of_bin(double bin) {
  return static_cast<double>(kLowest) + (bin - 2) / static_cast<double>(kPitchesPerSemitone);
}

}  // namespace hum::models::ear
