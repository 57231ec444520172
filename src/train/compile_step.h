// Compiles a step's graph; first rejects one that exceeds the memory limit.
#pragma once

#include "train/training_step.h"

namespace hum::train {

// Throws kConfig when the step's estimated memory exceeds options.memory_limit_bytes; the message
// has the memory, the largest arrays, and the memory with other settings.
runtime::Executable compile_step(runtime::Session& session, const nn::TrainSpec& spec,
                                 const OptimizerConfig& config, const StepFunction& step,
                                 const StepOptions& options);

}  // namespace hum::train
