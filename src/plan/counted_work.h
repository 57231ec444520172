// A training step of any model, as counted from its graph, for models other than plain
// transformers, on one device.
#pragma once

#include <string>

#include "plan/step_time.h"

namespace hum::plan {

struct CountedWork {
  std::string model;  // "codec"
  double parameters = 0;
  double product_flops = 0;  // of matrix products and convolutions, in one step
  double bytes = 0;          // read and written by one step, each array once by each fused loop
};

// Time of products at peak FLOP/s and of all arrays at memory bandwidth; the host launches a step
// once, which is not counted.
StepTime step_time(const CountedWork& work, const Device& device, const Efficiency& efficiency);

}  // namespace hum::plan
