// The timbre distance of two sounds, whatever they play.
#pragma once

#include <array>
#include <span>

namespace hum::eval {

// Mean MFCC 1..12 over the sounding frames.
using Timbre = std::array<double, 12>;

inline constexpr double kTimbreRange_db = 80;
// What people hear of a sound; below lies mostly noise.
inline constexpr double kAudibleRange_db = 60;

// Normalises the clip to an RMS of 0.1. MFCC are librosa's (window 2048, hop 512, 128 Slaney bands,
// power in dB, at least range_db below the loudest, orthonormal DCT-II), without coefficient 0, the
// level, over the frames whose RMS is within 40 dB of the loudest frame's. All zero for silence.
// Shapes: mono samples. Compare only timbres of the same range and sample rate (22,050 Hz
// everywhere in hum).
Timbre timbre_of(std::span<const float> samples, int rate_hz, double range_db = kTimbreRange_db);

// Euclidean distance.
double timbre_distance(const Timbre& a, const Timbre& b);

}  // namespace hum::eval
