// Tracks the level and the pitch of one voice over time, more finely than a transcriber's frames.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hum::pipeline {

// A quantity on a regular grid: value i lies at i * step_s.
struct Curve {
  double step_s = 0;
  std::vector<double> values;

  int64_t size() const { return static_cast<int64_t>(values.size()); }
  double operator[](int64_t i) const { return values[static_cast<size_t>(i)]; }
  double time(int64_t i) const { return static_cast<double>(i) * step_s; }
  // The nearest value; outside the curve the first or last one.
  int64_t index(double at_s) const;
};

struct VoiceTrack {
  // RMS under a Hann window of 20 ms, two periods of a low voice, so that its pulses do not ripple.
  Curve level;
  // MIDI numbers by YIN, and their aperiodicity: 0 periodic, about 1 noise. Both on the same grid.
  Curve pitch, aperiodicity;
  // The level that a tenth of the frames reach.
  double loud = 0;

  // Whether frame i of the pitch is periodic and within 30 dB of `loud`.
  bool is_voiced(int64_t i) const;
  // Median over the voiced frames in an interval; absent when less than half of them are voiced.
  std::optional<double> median_pitch(double from_s, double to_s) const;
};

// Units: mono at 22,050 Hz; at least one sample.
VoiceTrack track_voice(std::span<const float> samples);

}  // namespace hum::pipeline
