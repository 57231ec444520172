// The training loop: reads batches, reports progress, writes a log and checkpoints, resumes, and
// stops cleanly.
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
#include "train/validation.h"

namespace hum::train {

struct LoopConfig {
  int64_t steps = 1000;
  // Stops with a checkpoint after this many minutes; 0: no limit.
  double max_minutes = 0;
  int64_t seed = 1;
  int64_t checkpoint_every = 500;
  int64_t log_every = 20;
  // Batches in the making while a step runs. A fast accelerator waits for its batches otherwise.
  int64_t batches_ahead = 1;
  // Steps between validations on held-out items, and how many of their batches; 0 steps: none.
  int64_t validate_every = 250;
  int64_t validation_batches = 8;
  // Tracing of blocks and the memory limit; results do not depend on these.
  graph::RecomputePolicy recompute = graph::RecomputePolicy::kNone;
  int64_t recompute_every = 1;
  bool stack_layers = false;
  std::string memory_limit;
  OptimizerConfig optimizer;

  // Throws: kConfig for an invalid recompute_every or memory_limit.
  StepOptions step_options() const;

  template <class V>
  void visit_fields(V& v) {
    v("steps", steps, "optimizer steps");
    v("max_minutes", max_minutes, "stop with a checkpoint after this many minutes (0: no limit)");
    v("seed", seed, "random seed of initial weights, data order and dropout");
    v("checkpoint_every", checkpoint_every, "steps between checkpoints");
    v("log_every", log_every, "steps between log lines");
    v("batches_ahead", batches_ahead,
      "batches to make at the same time, ahead of their steps (more for a fast accelerator)");
    v("validate_every", validate_every,
      "steps between validations on held-out items, also after the last step (0: never)");
    v("validation_batches", validation_batches, "held-out batches of a validation, at most");
    v("recompute", recompute,
      "activations to recompute in the backward pass: none, selective or full");
    v("recompute_every", recompute_every, "recompute only blocks 0, n, 2n, ...");
    v("stack_layers", stack_layers,
      "run transformer layers as one loop over stacked weights: compiles fast at any depth");
    v("memory_limit", memory_limit,
      "refuse a step that needs more memory than this, e.g. 6GB (empty: no limit)");
    v("optimizer", optimizer, "AdamW or Muon, and the schedule");
  }
};

// Throws kConfig naming the value that is out of range.
void validate(const LoopConfig& config);

struct LoopOptions {
  // Folder for checkpoints and log.jsonl, created when missing. An existing run resumes.
  std::filesystem::path run;
  // Tensors to start a new run from (plain parameter names); absent parameters keep their initial
  // values.
  std::vector<NamedTensor> initial;
  // Stored in every checkpoint; a resumed run must have the same value.
  Json config;
  // Called once the step is compiled and the run's state is there, right before the first step.
  std::function<void()> before_first_step = [] {};
  // Called between steps; true saves a checkpoint and ends the loop.
  std::function<bool()> should_stop = [] { return false; };
  // What LoopConfig::validate_every validates on.
  HeldOut held_out = {};
};

struct LoopResult {
  int64_t steps_done = 0;  // in total, including those before a resume
  bool finished = false;   // false: stopped early, can be resumed
  double seconds = 0;      // of this call
  // Mean over the last log interval; NaN when this call logged none.
  double final_loss = std::numeric_limits<double>::quiet_NaN();
  // The newest validation loss of this call; NaN without one.
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  // To release: the running means where the optimizer keeps them.
  std::vector<NamedTensor> parameters;
};

// Throws: kFailure when loss or gradient are no longer finite, naming the step (the last checkpoint
// stays); kConfig for an invalid interval; kTemporary when another training uses the run folder.
LoopResult run_training(runtime::Session& session, const nn::TrainSpec& spec,
                        const LoopConfig& config, const BatchSource& batches,
                        const LoopOptions& options);

}  // namespace hum::train
