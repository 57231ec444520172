// Basic Pitch's network as a graph, from windows of sound to posteriors.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/function.h"
#include "models/basic_pitch/weights.h"
#include "runtime/host_tensor.h"

namespace hum::models::basic_pitch {

// A program and the weights that follow its first parameter.
// Shapes: parameter 0 sound [windows, 43,844]; results note [windows, 172, 88], onset [windows,
// 172, 88], contour [windows, 172, 264].
struct Network {
  graph::Function function;
  std::vector<runtime::HostTensor> weights;
};

// Source: basic-pitch 0.4.0, models.py, nn.py, layers/nnaudio.py, layers/signal.py, and nmp.onnx.
// Bittner et al. 2022, "A lightweight instrument-agnostic model for polyphonic note transcription
// and multipitch estimation".
Network build_network(const Weights& weights, int64_t windows);

}  // namespace hum::models::basic_pitch
