// Shared by the programs that run training steps against a peer: the problem file that both sides
// start from, and the timed steps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "runtime/host_tensor.h"
#include "train/training_step.h"

namespace hum::bench {

// "bf16" or "f32". Throws kUsage otherwise.
graph::DType compute_dtype(std::string_view name);

struct StepProblem {
  std::vector<train::NamedTensor> weights;
  runtime::HostTensor batches;  // [steps, ...]
};
// From a safetensors file: the tensor named `batches`, and all whose names do not start with
// `extra`.
StepProblem read_step_problem(const std::string& path, std::string_view batches,
                              std::string_view extra);

// One number per step; and all scalars of the last one.
struct TimedSteps {
  Json losses = Json::array(), milliseconds = Json::array();
  std::vector<float> last_scalars;
};
// Runs steps 0, 1, ... each on its slice of `batches`.
TimedSteps timed_steps(train::Trainer& trainer, const runtime::HostTensor& batches, int64_t steps);

}  // namespace hum::bench
