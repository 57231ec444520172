// The training step that a configuration describes, without its data: for commands that look at it
// or compile it ahead.
#pragma once

#include <filesystem>
#include <memory>

#include "app/training/configuration.h"

namespace hum::app {

struct ModelStep {
  const models::ModelRow* row = nullptr;
  std::shared_ptr<const models::AnyModel> model;  // what `spec` refers to
  nn::TrainSpec spec;
  train::LoopConfig loop;
};

// `batch` > 0 replaces the configuration's. Throws: as ModelConfiguration::make; kUsage when the
// model has no training step.
ModelStep model_step(ModelConfiguration configuration, int64_t batch = 0);
// Throws what read_configuration throws, too.
ModelStep read_model_step(const std::filesystem::path& path, int64_t batch = 0);

}  // namespace hum::app
