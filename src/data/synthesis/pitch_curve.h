// The pitch of one note over time. All renderings of it use the same curve: sine, excitation, hum,
// features and FluidSynth.
#pragma once

#include <vector>

#include "audio/notes.h"

namespace hum::data {

// Smooths a note's bends, whose steps of a third of a semitone would make a vibrato audible as
// steps. The curve is their five-point triangular mean with linear interpolation, constant outside
// the note.
class PitchCurve {
 public:
  explicit PitchCurve(const audio::Note& note);

  // MIDI pitch. Units: seconds on the note's own clock.
  double at(double time_s) const;
  bool bends() const { return !semitones_.empty(); }

 private:
  double start_s_, points_per_s_;
  int pitch_;
  std::vector<double> semitones_;  // empty when all bends are zero
};

}  // namespace hum::data
