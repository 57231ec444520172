// The pitch of one note over time, the same for every rendering of it: sine, excitation, hum,
// features, FluidSynth.
#pragma once

#include <vector>

#include "audio/notes.h"

namespace hum::data {

// A note's bends come in steps of a third of a semitone; played as they are, a vibrato would sound
// like a ladder. The curve is their five-point triangular mean, read with linear interpolation, and
// held flat outside the note.
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
