// Describes what a run executes, for the head of its log (docs/formats/training-log.md).
#pragma once

#include "base/json_fwd.h"
#include "nn/model_spec.h"
#include "runtime/session.h"
#include "train/training_step.h"

namespace hum::train {

// {"run": {...}}: model, batch, the operations and bytes of a step, and the hardware.
Json run_record(const runtime::Session& session, const nn::TrainSpec& spec,
                const OptimizerConfig& optimizer, const nn::BlockOptions& blocks,
                int64_t first_step);

}  // namespace hum::train
