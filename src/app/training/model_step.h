// The training step of a configuration, without its data, for commands that inspect it or compile
// it ahead of the run.
#pragma once

#include <filesystem>
#include <memory>

#include "app/training/configuration.h"

namespace hum::app {

struct ModelStep {
  const models::ModelRow* row = nullptr;
  std::shared_ptr<const models::AnyModel> model;  // `spec` refers to it
  nn::TrainSpec spec;
  train::LoopConfig loop;
};

// `batch` > 0 replaces the configuration's. Throws: as ModelConfiguration::make; kUsage when the
// model has no training step, or `batch` is below 0.
ModelStep model_step(ModelConfiguration configuration, int64_t batch = 0);
// Also throws what read_configuration throws.
ModelStep read_model_step(const std::filesystem::path& path, int64_t batch = 0);

}  // namespace hum::app
