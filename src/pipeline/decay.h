// Changes the level of a piece's notes by their age: what is struck or plucked dies away for as
// long as it is held.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

// The gain of a note at an age in frames of 20 ms, in dB. 0 at age 0.
using DecayFunction = std::function<double(double pitch, int64_t age_frames)>;

class Decay {
 public:
  // At any time the gain is that of the note that began last, so that no attack is quietened; of
  // several, that of the highest. After its end it keeps the gain that it had there. No function:
  // all gains are 0 dB.
  Decay(std::span<const audio::Note> notes, const DecayFunction& gain_db);

  // Shapes: samples [n, channels] at 22,050 Hz, of the piece from `first_sample` on.
  void apply(std::span<float> samples, int64_t first_sample, int channels) const;

 private:
  // Between two points the gain is linear in dB.
  struct Point {
    int64_t sample = 0;
    double gain_db = 0;
    bool is_onset = false;  // the gain of the point before stays until then
  };
  double amplitude_at(int64_t sample) const;

  std::vector<Point> points_;  // empty: 0 dB everywhere
};

}  // namespace hum::pipeline
