// The constants of Basic Pitch: sample rate, windows, frames and frequency bins.
// Source: basic-pitch 0.4.0, constants.py and inference.py.
#pragma once

#include <cstdint>

namespace hum::models::basic_pitch {

inline constexpr int64_t kSampleRateHz = 22050;
inline constexpr int64_t kFrameHopSamples = 256;
inline constexpr int64_t kWindowSamples = 2 * kSampleRateHz - kFrameHopSamples;  // 43,844
inline constexpr int64_t kWindowFrames = 172;

// Neighbouring windows share 30 frames; each keeps its middle 142.
inline constexpr int64_t kOverlapFrames = 30;
inline constexpr int64_t kEdgeFrames = kOverlapFrames / 2;
inline constexpr int64_t kKeptFrames = kWindowFrames - kOverlapFrames;
inline constexpr int64_t kWindowHopSamples = kWindowSamples - kOverlapFrames * kFrameHopSamples;

// Whole frames per second that the trained annotations used: the true rate is 86.13.
inline constexpr int64_t kFramesPerSecond = kSampleRateHz / kFrameHopSamples;

inline constexpr int64_t kPitches = 88;
inline constexpr int kLowestPitch = 21;  // MIDI number of A0, 27.5 Hz
inline constexpr int64_t kBinsPerSemitone = 3;
inline constexpr int64_t kContourBins = kPitches * kBinsPerSemitone;  // 264

// The constant-Q transform: 103 semitones in 9 octaves of 36 bins, the lowest 15 bins unused.
inline constexpr int64_t kCqtBins = 309;
inline constexpr int64_t kCqtOctaves = 9;
inline constexpr int64_t kBinsPerOctave = 12 * kBinsPerSemitone;
inline constexpr int64_t kKernelSamples = 256;

// The offsets in bins at which the eight channels of the harmonic stack read the transform: half
// the pitch, the pitch, harmonics 2 to 7.
inline constexpr int64_t kHarmonics = 8;
inline constexpr int64_t kHarmonicShiftBins[kHarmonics] = {-36, 0, 36, 57, 72, 84, 93, 101};

}  // namespace hum::models::basic_pitch
