// Melody features at 50 frames per second, the input of the coarse LM, the upsampler, the draft and
// the guided decoder. Training and generation call the same function. There are two sets of
// features; a model's `common.melody_features` says which one it was trained on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// Columns of a feature row.
enum class MelodyFeature : int {
  kPitch,     // (MIDI pitch with bend - 64) / 32
  kPitchSin,  // sin and cos of 2 pi * pitch / 12: the pitch class as an angle
  kPitchCos,
  kSounding,    // 1 in frames of a note, else 0
  kOnset,       // 1 in the frame a note starts in, else 0
  kSinceOnset,  // frames since the note's onset, see kCountFrames
  kToEnd,       // frames until the note's end
  kSinceEnd,    // frames since the last note's end; 0 while a note sounds
  kLoudness,    // the note's amplitude, 0..1
  // The second set has these too.
  kLongSinceOnset,  // frames since the note's onset, see kLongCountFrames
  kLongSinceEnd,    // frames since the last note's end, likewise; 0 while a note sounds
  kPreviousPitch,   // of the previous note at its end: (MIDI pitch - 64) / 32
  kSincePrevious,   // frames since the previous note's end, at most kLongCountFrames
};
// The first set, which items store, and both together. The second set begins with the first, so a
// model of either takes the first columns of a row.
inline constexpr int kMelodyFeatures = 9;
inline constexpr int kAllMelodyFeatures = 13;

// A count of frames n becomes log(1 + n) / log(1 + kCountFrames), at most 1, so that a second fills
// the scale and the first frames of a note differ clearly.
inline constexpr int kCountFrames = 50;

// The second set counts up to 6 s, the length of a training window. Its counts of the note itself
// are n / kLongCountFrames, at most 1: a free decay is linear in dB, so gains in dB are linear in
// them, and 5 s differ from 4 s as much as 2 s from 1 s; the first set resolves the attack.
// kSincePrevious is log(1 + n) / log(1 + kLongCountFrames), at most 1, as no other column counts
// the first frames after the previous note.
inline constexpr int kLongCountFrames = 300;

// Rules: A note fills the frames from that of its start to the one before its end (rounded), at
// least one. Pitch is read at the middle of the frame. Where notes overlap, the frame belongs to
// the highest one (the melody of a chord is its top voice); of equal pitches, to the later start. A
// silent frame keeps pitch, loudness and the count since the onset of the last note that ended, so
// that a release has its note; before the first note, pitch and loudness are those of the first
// note, and kSinceOnset and kSinceEnd are 1. Without notes: pitch 64, loudness 0. Notes may start
// before frame 0 (a window inside a piece): their onset is outside, and their counts continue. The
// previous note of a note is, of those that start in earlier frames, the one that starts last; of
// several, the highest. kSincePrevious is 0 while that one still sounds. Without a previous note,
// kPreviousPitch is the frame's own pitch and kSincePrevious is 1.
// Shapes: [frames, columns], row-major: the first columns of both sets.
std::vector<float> melody_features(std::span<const audio::Note> notes, int64_t frames,
                                   int columns = kMelodyFeatures);

}  // namespace hum::data
