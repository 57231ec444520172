// A training step of a transformer of equal blocks, for the bars on memory and compile time.
#pragma once

#include "graph/function.h"
#include "nn/blocks.h"

namespace hum::bench {

struct DeepModel {
  int64_t layers = 12;
  int64_t batch = 8;
  int64_t length = 256;
  int64_t width = 256;
};

// The whole step: loss, gradients, AdamW, on f32.
graph::Function deep_step(const DeepModel& model, const nn::BlockOptions& blocks);

}  // namespace hum::bench
