// The training loop: batches in, progress and a log out, checkpoints, resume, clean stops.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "nn/model_spec.h"
#include "runtime/session.h"
#include "train/optimizer.h"
#include "train/training_step.h"

namespace hum::train {

struct LoopConfig {
  int64_t steps = 1000;
  // Stop (with a checkpoint) after this many minutes; 0: no limit.
  double max_minutes = 0;
  int64_t seed = 1;
  int64_t checkpoint_every = 500;
  int64_t log_every = 20;
  // How blocks are traced, and what the step may need: values do not depend on these.
  graph::RecomputePolicy recompute = graph::RecomputePolicy::kNone;
  int64_t recompute_every = 1;
  bool stack_layers = false;
  std::string memory_limit;
  OptimizerConfig optimizer;

  // Throws: kConfig when recompute_every or memory_limit make no sense.
  StepOptions step_options() const;

  template <class V>
  void visit_fields(V& v) {
    v("steps", steps, "optimizer steps");
    v("max_minutes", max_minutes, "stop with a checkpoint after this many minutes (0: no limit)");
    v("seed", seed, "seed of initial weights, data order and dropout");
    v("checkpoint_every", checkpoint_every, "steps between checkpoints");
    v("log_every", log_every, "steps between log lines");
    v("recompute", recompute,
      "activations computed again in the backward pass instead of kept: none, selective or full");
    v("recompute_every", recompute_every, "recompute blocks 0, n, 2n, ... alone");
    v("stack_layers", stack_layers,
      "transformer layers as one loop over stacked weights: compiles fast however deep");
    v("memory_limit", memory_limit,
      "refuse a step that needs more memory than this, e.g. 6GB; empty: no limit");
    v("optimizer", optimizer, "AdamW and its schedule");
  }
};

// The arrays of a step's batch; depends on the step alone, so that a resumed run sees the same
// data.
using BatchSource = std::function<std::vector<runtime::HostTensor>(int64_t step)>;

struct LoopOptions {
  // Checkpoints, log.jsonl; created when missing. An existing run is resumed.
  std::filesystem::path run;
  // Tensors to start a fresh run from (plain parameter names); parameters that are absent keep
  // their initial values.
  std::vector<NamedTensor> initial;
  // Kept with every checkpoint; a resumed run must have the same.
  Json config;
  // Polled between steps; true saves a checkpoint and ends the loop.
  std::function<bool()> should_stop = [] { return false; };
};

struct LoopResult {
  int64_t steps_done = 0;  // in all, resumed ones included
  bool finished = false;   // false: stopped early, can be resumed
  double seconds = 0;      // of this call
  // Mean over the last log interval; NaN when this call logged none.
  double final_loss = std::numeric_limits<double>::quiet_NaN();
  std::vector<NamedTensor> parameters;
};

// Throws: kFailure when loss or gradient stop being finite, naming the step (the last checkpoint
// stays); kConfig when an interval is no number of steps.
LoopResult run_training(runtime::Session& session, const nn::TrainSpec& spec,
                        const LoopConfig& config, const BatchSource& batches,
                        const LoopOptions& options);

}  // namespace hum::train
