// Melody features at 50 frames per second, the input of the coarse LM, the upsampler and the draft.
// Training and generation call the same function.
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
};
inline constexpr int kMelodyFeatures = 9;

// A count of frames n becomes log(1 + n) / log(1 + kCountFrames), at most 1, so that a second fills
// the scale and the first frames of a note differ clearly.
inline constexpr int kCountFrames = 50;

// Rules: A note fills the frames from that of its start to the one before its end (rounded), at
// least one. Pitch is read at the middle of the frame. Where notes overlap, the frame belongs to
// the highest one (the melody of a chord is its top voice); of equal pitches, to the later start. A
// silent frame keeps pitch, loudness and the count since the onset of the last note that ended, so
// that a release has its note; before the first note, pitch and loudness are those of the first
// note, and kSinceOnset and kSinceEnd are 1. Without notes: pitch 64, loudness 0. Notes may start
// before frame 0 (a window inside a piece): their onset is outside, and their counts continue.
// Shapes: [frames, kMelodyFeatures], row-major.
std::vector<float> melody_features(std::span<const audio::Note> notes, int64_t frames);

}  // namespace hum::data
