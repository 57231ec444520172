// One training step as one program: loss, gradients, clipping, AdamW and buffer updates. All state
// is donated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/function.h"
#include "nn/model_spec.h"
#include "runtime/host_tensor.h"
#include "runtime/session.h"
#include "train/optimizer.h"

namespace hum::train {

// One array of a step's state: a tensor, or tensors of equal shape stacked along a new first dim.
struct StateSlot {
  // "p.<name>" for parameters, "m.<name>" and "v.<name>" for the moments of trained ones.
  std::vector<std::string> names;
  graph::Shape shape;
  // The parameters that supply its initial values, in the order of `names`; none for moments.
  std::vector<const nn::Parameter*> parameters;
};

// The graph of a step. Parameters: state (parameters, means, squares), batch, step, key, learning
// rate. Results: new state, then the scalars named in `scalars` (the first is the loss).
struct StepFunction {
  graph::Function function;
  std::vector<StateSlot> state;
  std::vector<std::string> scalars;
};
StepFunction step_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                           const nn::BlockOptions& blocks = {});

struct StepOptions {
  nn::BlockOptions blocks = {};
  // Refuses to compile a step that would need more on its device; 0: no limit.
  int64_t memory_limit_bytes = 0;
};

// All tensors that a step changes, by their dotted names in checkpoints: "p.<name>", and for
// trainable parameters "m.<name>" and "v.<name>".
struct NamedTensor {
  std::string name;
  runtime::HostTensor tensor;
};

// A compiled step with its state on the device.
class Trainer {
 public:
  // Starts from the parameters' initial values under `seed`. Throws: kConfig when the step exceeds
  // the memory limit, naming its largest arrays and the settings that would help.
  Trainer(runtime::Session& session, const nn::TrainSpec& spec, const OptimizerConfig& config,
          int64_t total_steps, uint64_t seed, const StepOptions& options = {});

  struct Result {
    // In the order of scalar_names().
    std::vector<float> scalars;
    double learning_rate = 0;
  };
  // Runs step number `step` (0-based) on its batch.
  Result run(int64_t step, std::span<const runtime::HostTensor> batch);

  const std::vector<std::string>& scalar_names() const { return step_.scalars; }
  // As the compiler reports it; absent if it does not.
  std::optional<pjrt::Executable::MemoryStats> memory_stats() const {
    return executable_.memory_stats();
  }
  // Copies all state to the host, with stacks split.
  std::vector<NamedTensor> state() const;
  // Replaces state by name. With `whole`, every tensor must be given (to resume); without it, only
  // the given ones change (to start from released weights; "p." is added to bare names). Throws on
  // unknown names and wrong shapes.
  void load(std::span<const NamedTensor> tensors, bool whole);
  // The parameters alone, under their plain names.
  std::vector<NamedTensor> parameters() const;

 private:
  runtime::Session& session_;
  nn::TrainSpec spec_;
  OptimizerConfig config_;
  int64_t total_steps_;
  uint64_t seed_;
  StepFunction step_;
  runtime::Executable executable_;
  std::vector<runtime::Tensor> state_;
};

}  // namespace hum::train
