// The graphs of training: a step (loss, gradients, clipping, update and buffer updates), and the
// loss alone for validation. Non-goals: compiling and running them (training_step.h).
#pragma once

#include <string>
#include <vector>

#include "graph/function.h"
#include "nn/model_spec.h"
#include "train/optimizer.h"

namespace hum::train {

// One array of a step's state: a tensor, or tensors of equal shape stacked along a new first dim.
struct StateSlot {
  // "p.<name>" for parameters; of trained ones "m.<name>" and "v.<name>" for the moments (Muon's
  // matrices have no "v."), and "e.<name>" for the running mean if the optimizer keeps it.
  std::vector<std::string> names;
  graph::Shape shape;
  // The parameters that supply its initial values, in the order of `names`; none for moments.
  std::vector<const nn::Parameter*> parameters;
};

// The graph of a step. Parameters: state (parameters, means, squares, running means of parameters),
// batch, step, key, learning rate. Results: new state, then the scalars named in `scalars` (the
// first is the loss).
struct StepFunction {
  graph::Function function;
  std::vector<StateSlot> state;
  std::vector<std::string> scalars;
};
// Throws: kConfig when there is nothing to train, or no hidden matrix for Muon.
StepFunction step_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                           const nn::BlockOptions& blocks = {});

// The loss and metrics of a batch, without dropout, gradients and update. Parameters: the arrays
// named in `state`, batch, step, key. Results: the scalars.
struct ValidationFunction {
  graph::Function function;
  // The first name of the StateSlot to pass for each array: running means where the step keeps
  // them, else parameters.
  std::vector<std::string> state;
  std::vector<std::string> scalars;
};
ValidationFunction validation_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                       const nn::BlockOptions& blocks = {});

}  // namespace hum::train
