// Estimates how far a singer is off A = 440 Hz, and corrects it.
#pragma once

#include <span>
#include <vector>

namespace hum::pipeline {

// Smaller offsets are not corrected.
inline constexpr double kMinTuning_cents = 15;

struct TuningEstimate {
  // -50..50: distance of the sung pitches above the nearest notes of the scale.
  double offset_cents = 0;
  // 0..1: how well the pitches agree on it; 0 for noise and endless glides.
  double agreement = 0;
  // Share of the frames that are loud enough and periodic.
  double voiced_share = 0;
};

// The circular mean of the pitch, modulo a semitone, over voiced frames (YIN).
// Units: mono at 22,050 Hz.
TuningEstimate estimate_tuning(std::span<const float> samples);

// Moves the sound down by `offset_cents` by playing it slower (or faster), which changes only the
// clock. Times in the original are times in the result divided by `stretch`.
struct Retuned {
  std::vector<float> samples;
  double stretch = 1;
};
Retuned retune(std::span<const float> samples, double offset_cents);

}  // namespace hum::pipeline
