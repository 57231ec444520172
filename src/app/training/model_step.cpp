#include "app/training/model_step.h"

#include "base/fields_json.h"
#include "base/files.h"
#include "models/humming/coarse.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"
#include "models/preset_classifier/model.h"

namespace hum::app {
namespace {

template <typename Model, typename Config, typename MakeSpec>
ModelStep step_of(const std::filesystem::path& path, int64_t batch, const MakeSpec& make_spec) {
  TrainConfig<Config> config;
  read_config(path, config);
  if constexpr (requires { config.model.presets; }) {  // the data's, which is not here
    for (const auto* preset : data::training_presets())
      config.model.presets.emplace_back(preset->name);
  }
  if (batch > 0) config.stage.batch = batch;
  const auto model = std::make_shared<const Model>(config.model);
  ModelStep step{model, make_spec(*model, config.stage), config.stage.loop};
  step.spec.train_only = config.stage.train_only;
  return step;
}

// Of the models, the one with a field that the others' configurations lack.
enum class Kind { kCodec, kVoice, kUpsampler, kCoarse, kClassifier };
Kind kind_of(const std::filesystem::path& path) {
  const Json config = read_yaml(path);
  const Json model = config.value("model", Json::object());
  const Json stage = config.value("stage", Json::object());
  const std::filesystem::path folder = stage.value("output", std::string());
  const std::string output = folder.filename();
  if (output == "coarse" || model.contains("transformer")) return Kind::kCoarse;
  if (output == "upsampler" || model.contains("classified_books")) return Kind::kUpsampler;
  if (output == "voice" || model.contains("excitation_dropout")) return Kind::kVoice;
  if (output == "codec" || model.contains("quantizer")) return Kind::kCodec;
  if (output == "classifier" || model.contains("bands")) return Kind::kClassifier;
  fail(ExitCode::kConfig,
       path.string() + ": neither codec, voice, upsampler, coarse nor classifier",
       "stage.output must end in the model's name");
}

}  // namespace

std::filesystem::path model_config_path(const std::string& name) {
  if (std::filesystem::exists(name)) return name;
  const auto configs = source_folder() / "configs";
  for (const std::string& file :
       {name == "tiny" ? std::string("coarse.yaml") : name + ".yaml", "coarse-" + name + ".yaml"}) {
    if (std::filesystem::exists(configs / file)) return configs / file;
  }
  fail(ExitCode::kNoInput, fmt::format("no model or configuration '{}'", name),
       "name codec, voice, upsampler, coarse, classifier, tiny, 385m, 10b, or a YAML file");
}

ModelStep read_model_step(const std::filesystem::path& config, int64_t batch) {
  using namespace models;
  const auto on_items = [](const auto& model, const StageConfig& stage) {
    return model.train_spec(stage.batch, data::kItemFrames, data::kReferenceFrames,
                            dtype_of(stage.compute));
  };
  switch (kind_of(config)) {
    case Kind::kCodec:
      return step_of<codec::Codec, codec::CodecConfig>(
          config, batch, [](const codec::Codec& model, const StageConfig& stage) {
            return model.train_spec(stage.batch, stage.frames * codec::kHopSamples,
                                    dtype_of(stage.compute));
          });
    case Kind::kVoice:
      return step_of<humming::Voice, humming::VoiceConfig>(
          config, batch, [](const humming::Voice& model, const StageConfig& stage) {
            return model.train_spec(stage.batch, stage.frames * codec::kHopSamples,
                                    dtype_of(stage.compute), codec::training_mel_scales());
          });
    case Kind::kUpsampler:
      return step_of<humming::Upsampler, humming::UpsamplerConfig>(config, batch, on_items);
    case Kind::kCoarse:
      return step_of<humming::Coarse, humming::CoarseConfig>(config, batch, on_items);
    case Kind::kClassifier:
      return step_of<preset_classifier::PresetClassifier,
                     preset_classifier::PresetClassifierConfig>(
          config, batch,
          [](const preset_classifier::PresetClassifier& model, const StageConfig& stage) {
            return model.train_spec(stage.batch, stage.frames * codec::kHopSamples,
                                    dtype_of(stage.compute));
          });
  }
  HUM_CHECK(false, "a model without a step");
  return {};
}

}  // namespace hum::app
