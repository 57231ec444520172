// Data-parallel steps: every device holds all state and gets its own batch; gradients and losses
// are averaged, so that all devices make the same update. Non-goals: running the steps
// (runtime::Executable's run_replicas does), sharded state.
#pragma once

#include "train/training_step.h"

namespace hum::train {

struct DataParallelStep {
  StepFunction step;
  // Gradients of the trained arrays from the device's batch; on several devices, their means.
  graph::Values gradients;
};

// The step of one of `devices` devices. Its parameters are those of step_function(), with a batch
// of the spec's shapes on each device, and on several devices a last one, "replica" (i32: 0, 1,
// ...), which makes the loss's random numbers differ. The scalars are means over the devices.
// Throws kConfig: nothing to train; several devices and a loss that changes buffers, which would
// then differ between devices.
DataParallelStep data_parallel_step(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                    const nn::BlockOptions& blocks, int devices);

// The mean of a value over the mesh's data axis, with one all-reduce per value; unchanged on one
// device.
graph::Values averaged(const graph::Values& values, const graph::Mesh& mesh);
// Averages a loss's total and metrics.
nn::Loss averaged(const nn::TrainSpec& spec, nn::Loss loss, const graph::Mesh& mesh);

}  // namespace hum::train
