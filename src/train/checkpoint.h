// Checkpoints of a training run: one folder per step, written under a temporary name and renamed.
// The last few are kept.
//
//   <run>/step-00001200/state.safetensors   all state: f32; bf16 for weights kept in bf16
//   <run>/step-00001200/state.json          step, configuration, SHA-256 of the tensors
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "train/training_step.h"

namespace hum::train {

struct Checkpoint {
  int64_t step = 0;  // the next step to run
  Json config;
  std::vector<NamedTensor> state;
};

void save_checkpoint(const std::filesystem::path& run, const Checkpoint& checkpoint, int keep = 2);
// Reads the newest intact checkpoint; nullopt when there is none. Skips damaged ones with a
// warning. Throws: kBadData when all checkpoints are damaged.
std::optional<Checkpoint> latest_checkpoint(const std::filesystem::path& run);

}  // namespace hum::train
