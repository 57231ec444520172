// Compares the melody of two sounds by the strongest pitch class of each half second, as for
// MusicGen.
#pragma once

#include <span>
#include <vector>

namespace hum::eval {

// The strongest of 12 pitch classes (0 is C) of each of ceil(samples / hop) frames. Resamples the
// sound to 32 kHz, MusicGen's rate, so that window (16,384) and hop (4,096 samples) last as long as
// there: 0.512 and 0.128 s. Pads sound shorter than a window on both sides.
// Silent frames give 0. Source: audiocraft modules/chroma.py (radix2_exp 14, argmax), librosa
// filters.chroma.
std::vector<int> chroma_classes(std::span<const float> samples, int rate_hz);

// Mean cosine similarity of one-hot chroma: the share of frames with the same class, of two sounds
// of the same length; 0 without frames. Chance is about 0.1.
// Source: audiocraft metrics/chroma_cosinesim.py.
double chroma_cosine(std::span<const int> reference, std::span<const int> estimate);

}  // namespace hum::eval
