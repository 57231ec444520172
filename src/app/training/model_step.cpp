#include "app/training/model_step.h"

#include "app/training/inputs.h"
#include "base/error.h"
#include "data/synthesis/presets.h"

namespace hum::app {
namespace {

std::vector<std::string> training_preset_names() {
  std::vector<std::string> names;
  for (const auto* preset : data::training_presets()) names.emplace_back(preset->name);
  return names;
}

}  // namespace

ModelStep model_step(ModelConfiguration configuration, int64_t batch) {
  if (batch < 0) {
    fail(ExitCode::kUsage, fmt::format("--batch {} is below 0", batch),
         "0 takes the batch of the configuration");
  }
  if (batch > 0) configuration.stage.batch = batch;
  fill_in_classes(configuration, training_preset_names);
  const std::shared_ptr<const models::AnyModel> model = configuration.make();
  auto spec = model->train_spec(configuration.step_shape());
  spec.train_only = configuration.stage.train_only;
  return {configuration.row, model, std::move(spec), configuration.stage.loop};
}

ModelStep read_model_step(const std::filesystem::path& path, int64_t batch) {
  return model_step(read_configuration(path), batch);
}

}  // namespace hum::app
