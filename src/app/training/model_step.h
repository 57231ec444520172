// The training step that a configuration describes, without its data: for commands that look at it
// or compile it ahead.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/training/stage.h"

namespace hum::app {

// A YAML file, or the configuration of a coarse LM by size (tiny, 385m, 10b) or of a model by name
// (codec, voice, upsampler, coarse, classifier). Throws kNoInput.
std::filesystem::path model_config_path(const std::string& name);

struct ModelStep {
  std::shared_ptr<const void> model;  // what `spec` speaks of
  nn::TrainSpec spec;
  train::LoopConfig loop;
};

// Which of the models it is, its own fields say. `batch` > 0 replaces the configuration's.
// Throws kConfig.
ModelStep read_model_step(const std::filesystem::path& config, int64_t batch = 0);

}  // namespace hum::app
