// The network's output for a recording: three maps of probabilities over time and frequency.
#pragma once

#include <cstdint>

#include "audio/dsp.h"
#include "models/basic_pitch/config.h"

namespace hum::models::basic_pitch {

template <typename T>
using Matrix = audio::Matrix<T>;

// Shapes: note [T, 88], onset [T, 88], contour [T, 264]; one row is 256 samples at 22,050 Hz.
struct Posteriors {
  Matrix<float> note;
  Matrix<float> onset;
  Matrix<float> contour;

  int64_t frames() const { return note.rows; }
};

}  // namespace hum::models::basic_pitch
