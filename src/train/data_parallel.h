// Data-parallel steps: every device holds all state and has a batch of its own; gradients and
// losses are averaged, so that all make the same update. Non-goals: running them
// (runtime::Executable's run_replicas does), state cut over devices.
#pragma once

#include "train/training_step.h"

namespace hum::train {

struct DataParallelStep {
  StepFunction step;
  // Of the trained arrays, as the device's batch gives them; on several, then their means.
  graph::Values gradients;
};

// The step of one of `devices` devices. Its parameters are step_function()'s with batches of the
// spec's shapes on each device, and on several devices a last one, "replica" (i32: 0, 1, ...), by
// which the loss's random numbers differ. The scalars are means over the devices.
// Throws kConfig: nothing to train; several devices and a loss that changes buffers, which each
// would then hold differently.
DataParallelStep data_parallel_step(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                    const nn::BlockOptions& blocks, int devices);

// The mean over the mesh's data axis of what each device computed from its own batch, one
// all-reduce a value; as it is on one device.
graph::Values averaged(const graph::Values& values, const graph::Mesh& mesh);
// A loss's total and metrics, averaged.
nn::Loss averaged(const nn::TrainSpec& spec, nn::Loss loss, const graph::Mesh& mesh);

}  // namespace hum::train
