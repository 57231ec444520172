// A training step as one compiled program with its state on the device. All state is donated.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/model_spec.h"
#include "runtime/host_tensor.h"
#include "runtime/session.h"
#include "train/step_function.h"

namespace hum::train {

struct StepOptions {
  nn::BlockOptions blocks = {};
  // Refuses to compile a step that would need more on its device; 0: no limit.
  int64_t memory_limit_bytes = 0;
};

// A tensor that a step changes, by its dotted name in checkpoints (StateSlot).
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
  using Scalars = std::vector<std::pair<std::string, float>>;
  // The loss and metrics of batch `index` of a fixed set after `step` steps, without dropout, by
  // the released parameters. Random numbers depend on `index` alone. Changes nothing in training.
  // The first call compiles.
  Scalars validate(int64_t step, int64_t index, std::span<const runtime::HostTensor> batch);

  const std::vector<std::string>& scalar_names() const { return step_.scalars; }
  // As the compiler reports it; absent if it does not.
  std::optional<pjrt::Executable::MemoryStats> memory_stats() const {
    return executable_.memory_stats();
  }
  // Copies all state to the host, with stacks split.
  std::vector<NamedTensor> state() const;
  // Replaces state by name. With `whole`, every tensor must be given (to resume); without it, only
  // the given ones change (to start from released weights, under bare names; running means start
  // there, too). Throws on unknown names and wrong shapes.
  void load(std::span<const NamedTensor> tensors, bool whole);
  // The parameters alone, under their plain names.
  std::vector<NamedTensor> parameters() const;
  // The same with the running means in place of the trained ones, where the optimizer keeps them.
  std::vector<NamedTensor> released_parameters() const;

 private:
  struct Validation {
    runtime::Executable program;
    std::vector<size_t> slots;  // of the state, in the order of the program's arrays
    std::vector<std::string> scalars;
  };
  Validation compile_validation();
  // The batch, the step and the key, which follow the state in a program's arguments.
  void append_inputs(std::vector<runtime::Tensor>& arguments, int64_t step,
                     std::array<uint32_t, 2> key, std::span<const runtime::HostTensor> batch) const;
  // Takes the slots whose names have one of these prefixes; of two, the later slot counts.
  std::vector<NamedTensor> parameters_from(std::string_view prefixes) const;

  runtime::Session& session_;
  nn::TrainSpec spec_;
  OptimizerConfig config_;
  int64_t total_steps_;
  uint64_t seed_;
  nn::BlockOptions blocks_;
  StepFunction step_;
  runtime::Executable executable_;
  std::vector<runtime::Tensor> state_;
  std::optional<Validation> validation_;
};

}  // namespace hum::train
