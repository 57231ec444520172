// The output of a transcriber (Basic Pitch or another), independent of the model.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "audio/dsp.h"
#include "audio/notes.h"

namespace hum::pipeline {

// Probabilities per frame and semitone. Empty if a transcriber has none.
// Shapes: sounding [T, P], onset [T, P], time_s [T].
struct Salience {
  audio::Matrix<float> sounding, onset;
  std::vector<double> time_s;
  int lowest_pitch = 0;

  bool empty() const { return time_s.empty(); }
};

struct Transcription {
  std::vector<audio::Note> notes;
  Salience salience;
};

// The input is mono at 22,050 Hz.
using TranscribeFunction = std::function<Transcription(std::span<const float> samples)>;

}  // namespace hum::pipeline
