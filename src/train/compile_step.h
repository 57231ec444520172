// From a step's graph to its program; one that would not fit is refused before it is compiled.
#pragma once

#include "train/training_step.h"

namespace hum::train {

// Throws kConfig when the step's estimated memory exceeds options.memory_limit_bytes: what it
// needs, its largest arrays, and what other settings would need.
runtime::Executable compile_step(runtime::Session& session, const nn::TrainSpec& spec,
                                 const OptimizerConfig& config, const StepFunction& step,
                                 const StepOptions& options);

}  // namespace hum::train
