// hum train classifier
#include "app/session_options.h"
#include "app/training/stage.h"
#include "cli/commands/train.h"
#include "models/preset_classifier/model.h"

namespace hum::cli {
namespace {

using runtime::HostTensor;

int run(app::TrainArgs& args) {
  auto config = app::read_train_config<models::preset_classifier::PresetClassifierConfig>(args);
  const app::StageConfig& stage = config.stage;
  const data::ItemFolder items(stage.data);
  const data::ItemOrder order = app::training_order(items, stage);
  const auto presets = app::item_presets(stage.data);
  if (config.model.presets.empty()) config.model.presets = presets;
  if (config.model.presets != presets) {
    fail(ExitCode::kConfig,
         fmt::format("model.presets names {} presets, {} holds {} others",
                     config.model.presets.size(), stage.data, presets.size()),
         "leave model.presets out: the data's are taken");
  }
  // Presets take turns.
  const auto preset_of = [&](int64_t item) {
    return static_cast<int32_t>(items[item].index % presets.size());
  };
  runtime::Session session(app::session_options());
  const models::preset_classifier::PresetClassifier model(config.model);
  const int64_t samples = stage.frames * data::kFrameSamples;
  const auto spec = model.train_spec(stage.batch, samples, app::dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    const auto audio = data::audio_batch(items, order, static_cast<uint64_t>(stage.loop.seed), step,
                                         stage.batch, samples);
    std::vector<int32_t> classes;
    for (int64_t b = 0; b < stage.batch; ++b) {
      classes.push_back(preset_of(order.item(step * stage.batch + b)));
    }
    return std::vector{HostTensor::of({stage.batch, samples}, std::span<const float>(audio)),
                       HostTensor::of({stage.batch}, std::span<const int32_t>(classes))};
  };
  return app::run_stage(session, spec, stage, to_json(config.model), args, batches);
}

}  // namespace

const Command kTrainClassifier = {
    "train classifier", "train the preset classifier, a judge of timbre, on true audio",
    "hum train classifier --config configs/classifier.yaml", make_command<app::TrainArgs, run>};

}  // namespace hum::cli
