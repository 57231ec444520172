// Loudness of hums and instruments: the loudness of each hummed note, and a common level for every
// clip that a model gets.
#pragma once

#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::data {

// MIDI velocities and decibels: 4 steps per dB, 80 in the middle, a range of 20 dB.
inline constexpr double kVelocityMiddle = 80;
inline constexpr double kVelocityLow = 40;
inline constexpr double kVelocityHigh = 120;
inline constexpr double kVelocityPerDb = 4;

// Sets each note's amplitude to its hummed loudness: amplitude = velocity / 127, where velocity is
// 80 at the median note's RMS and changes by 4 per dB within 40..120 (20 dB). Basic Pitch's own
// amplitude is a certainty, not a loudness. Units: samples at 22,050 Hz, on the notes' clock.
std::vector<audio::Note> velocity_from_rms(std::span<const float> samples,
                                           std::span<const audio::Note> notes);

// Shifts all amplitudes so that the median velocity is 80, within 40..120, as after
// velocity_from_rms.
void centre_velocities(std::span<audio::Note> notes);

// RMS of the 20 ms frames within 30 dB of the loudest one; several channels (interleaved) count as
// one. 0 for silence.
double active_rms(std::span<const float> samples, int channels = 1);

// Scales a clip so that active_rms is kTargetRms (-20 dBFS), or less if a sample would exceed
// kPeakLimit. So presets are equally loud, and dynamics within the clip are kept. Silence stays
// silence. Every target and every timbre reference goes through this, in training and in use. All
// channels get the same gain, which it returns.
inline constexpr double kTargetRms = 0.1;
inline constexpr double kPeakLimit = 0.97;
double normalise_level(std::span<float> samples, int channels = 1);
// That gain alone.
double level_gain(std::span<const float> samples, int channels = 1);
// A copy of mono sound at that level.
std::vector<float> levelled(std::vector<float> samples);

}  // namespace hum::data
