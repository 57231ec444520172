// Checkpoints of a training run: a folder per step, written aside and renamed, the last few kept.
//
//   <run>/step-00001200/state.safetensors   all state: f32, weights kept in bf16 as such
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
// The newest whole checkpoint; nullopt when there is none. A damaged one is skipped with a warning.
// Throws: kBadData when there are some and all are damaged.
std::optional<Checkpoint> latest_checkpoint(const std::filesystem::path& run);

}  // namespace hum::train
