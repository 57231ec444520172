// The melody as numbers, 50 frames a second: what the coarse LM, the upsampler and the draft are
// told about it. Training and generation call this one function.
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
  kSounding,    // 1 in frames that a note fills, else 0
  kOnset,       // 1 in the frame a note starts in, else 0
  kSinceOnset,  // frames since the note's onset, see kCountFrames
  kToEnd,       // frames until the note's end
  kSinceEnd,    // frames since the last note's end; 0 while a note sounds
  kLoudness,    // the note's amplitude, 0..1
};
inline constexpr int kMelodyFeatures = 9;

// Counts of frames n are given as log(1 + n) / log(1 + kCountFrames), at most 1: a second fills the
// scale and the first frames of a note differ clearly.
inline constexpr int kCountFrames = 50;

// Rules. A note fills the frames from the one its start lies in to the one before its end
// (rounded), one at least. Pitch is read at the middle of the frame. Where notes overlap, the frame
// is given to the highest one (the melody of a chord is its top voice); where equal, to the later
// start. A silent frame keeps pitch, loudness and the count since the onset of the last note that
// ended, so that a release knows what it releases; before the first note, pitch and loudness are
// those of the first note and kSinceOnset and kSinceEnd are 1. Without notes: pitch 64, loudness 0.
// Notes may start before frame 0 (a window in mid-piece): their onset lies outside, their counts go
// on. Shapes: [frames, kMelodyFeatures], row-major.
std::vector<float> melody_features(std::span<const audio::Note> notes, int64_t frames);

}  // namespace hum::data
