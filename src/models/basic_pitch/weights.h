// Reads the released weights of Basic Pitch from its ONNX file (Apache-2.0; fetched, not part of
// this repository).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "models/basic_pitch/config.h"

namespace hum::models::basic_pitch {

// A convolution as ONNX stores it.
// Shapes: kernel [outputs, inputs, times, freqs] row-major; bias [outputs].
struct ConvWeights {
  int64_t outputs = 0;
  int64_t inputs = 0;
  int64_t times = 0;
  int64_t freqs = 0;
  std::vector<float> kernel;
  std::vector<float> bias;

  float at(int64_t output, int64_t input, int64_t time, int64_t freq) const {
    const int64_t index = ((output * inputs + input) * times + time) * freqs + freq;
    return kernel[static_cast<size_t>(index)];
  }
};

// Batch norms after convolutions are already folded into their kernels and biases.
struct Weights {
  std::vector<float> cqt_real;   // [36, 256]: the top octave's kernels
  std::vector<float> cqt_imag;   // [36, 256]
  std::vector<float> lowpass;    // [256]: half-band filter of the octave chain
  std::vector<float> cqt_scale;  // [309]: square root of each bin's kernel length
  float input_scale = 1;         // batch norm of the normalised log spectrum
  float input_offset = 0;
  ConvWeights contour_hidden;  // harmonic stack -> 8 channels, 3 x 39, ReLU
  ConvWeights contour;         // -> contour, 5 x 5, sigmoid
  ConvWeights note_hidden;     // contour -> 32 channels, 7 x 7, stride 3 in frequency, ReLU
  ConvWeights note;            // -> note, 7 x 3, sigmoid
  ConvWeights onset_hidden;    // harmonic stack -> 32 channels, 5 x 5, stride 3 in frequency, ReLU
  ConvWeights onset;           // [note, onset_hidden] -> onset, 3 x 3, sigmoid

  // Trained numbers: all of the convolutions and the batch norm of the input.
  int64_t parameter_count() const;
};

// The path of nmp.onnx below the first of wheel_folders() that has it.
std::filesystem::path default_weights_path();

// Finds each tensor by the structure of the graph (which op uses it, and its shape), not by its
// generated name. Throws: kNoInput when missing; kBadData when truncated, not ONNX, or not Basic
// Pitch.
Weights read_weights(const std::filesystem::path& path);

}  // namespace hum::models::basic_pitch
