// The rows of the registry. To add a model, add a folder beside this file, a row here and a
// configuration in configs/.
#include "models/registry.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "models/basic_pitch/transcriber.h"
#include "models/codec/codec.h"
#include "models/codec/codec_session.h"
#include "models/codec/dac.h"
#include "models/ear/ear_session.h"
#include "models/ear/model.h"
#include "models/humming/coarse.h"
#include "models/humming/humming_session.h"
#include "models/humming/joint.h"
#include "models/humming/upsampler.h"
#include "models/humming/voice.h"
#include "models/llama/llama_session.h"
#include "models/llama/model.h"
#include "models/preset_classifier/classifier_session.h"
#include "models/preset_classifier/model.h"
#include "models/separator/model.h"
#include "models/separator/separator_session.h"
#include "models/spleeter/model.h"
#include "models/spleeter/separator.h"
#include "models/weights_folder.h"
#include "runtime/bind.h"

namespace hum::models {
namespace {

namespace fs = std::filesystem;

template <typename Config, typename Model>
class TypedModel : public AnyModel {
 public:
  explicit TypedModel(const Config& config) : model_(config) {}

  Json config() const override {
    Config config = model_.config();
    return to_json(config);
  }
  const nn::ParameterList& parameters() const override { return model_.parameters(); }
  int64_t core_parameters() const override {
    if constexpr (requires { model_.core_parameters(); }) return model_.core_parameters();
    return parameters().element_count();
  }
  std::optional<LanguageModelShape> language_model() const override {
    if constexpr (requires(const Config& c) { c.transformer, c.vocabulary; }) {
      return LanguageModelShape{model_.config().transformer, model_.config().vocabulary};
    }
    return std::nullopt;
  }
  nn::TrainSpec train_spec(const nn::StepShape& shape) const override {
    if constexpr (requires { model_.train_spec(shape); }) return model_.train_spec(shape);
    fail(ExitCode::kUsage, "this model has no training step",
         "models with one: " + trained_models());
  }

 private:
  Model model_;
};

struct FieldNames {
  std::vector<std::string> names;
  template <typename T>
  void operator()(std::string_view name, T&, std::string_view) {
    names.emplace_back(name);
  }
};

template <typename Config>
std::vector<std::string> field_names() {
  Config config;
  FieldNames visitor;
  config.visit_fields(visitor);
  return visitor.names;
}

// The configurations of models that hum trains have a validate().
template <typename Config>
Config checked_config(const Json& json) {
  Config config;
  from_json(json, config);
  const Bounds bounds("model.");
  if constexpr (requires { validate(config, bounds); }) validate(config, bounds);
  return config;
}

template <typename Config>
void check(const Json& json) {
  checked_config<Config>(json);
}

template <typename Config, typename Model>
std::unique_ptr<const AnyModel> make_model(const Json& json) {
  return std::make_unique<TypedModel<Config, Model>>(checked_config<Config>(json));
}

template <typename Config, typename Model>
constexpr Configuration configures{field_names<Config>, check<Config>, make_model<Config, Model>};

template <typename ModelSession>
std::shared_ptr<const void> opens(runtime::Session& session, const fs::path& weights,
                                  std::string_view part) {
  return std::make_shared<const ModelSession>(session,
                                              part.empty() ? weights : weights_part(weights, part));
}

// The humming models share a session, which reads the requested parts and the upsampler.
template <bool kLanguageModel, bool kVoice>
std::shared_ptr<const void> opens_humming(runtime::Session& session, const fs::path& weights,
                                          std::string_view) {
  auto opened = std::make_shared<const humming::HummingSession>(session, weights);
  opened->load(kLanguageModel, kVoice);
  return opened;
}

constexpr std::string_view kJointParts[] = {"predictor", "voice"};

// Model type, folder, summary; configuration; weights and the session that opens them; training
// input; whether its training step can be audited; a model of the same network;
// the models it consists of.
constexpr ModelRow kRegistry[] = {
    // clang-format off
    {"codec", "codec", "sound to tokens and back",
     configures<codec::CodecConfig, codec::Codec>,
     "codec", opens<codec::CodecSession>,
     TrainingInput::kWaveformCrops, PlatformAudit::kTrainingStep},
    {"voice", "humming", "guided decoder: latents and notes to sound",
     configures<humming::VoiceConfig, humming::Voice>,
     "voice", opens_humming<false, true>,
     TrainingInput::kCropsWithNotes, PlatformAudit::kTrainingStep},
    {"upsampler", "humming", "a draft from the melody, fine tokens from coarse ones",
     configures<humming::UpsamplerConfig, humming::Upsampler>,
     "upsampler", opens_humming<false, false>,
     TrainingInput::kTokenItems, PlatformAudit::kTrainingStep, "predictor"},
    {"predictor", "humming", "a better draft: an upsampler that does nothing else",
     configures<humming::UpsamplerConfig, humming::Predictor>,
     "predictor", opens_humming<false, false>,
     TrainingInput::kTokenItems, PlatformAudit::kTrainingStep, "upsampler"},
    {"coarse", "humming", "language model of coarse tokens",
     configures<humming::CoarseConfig, humming::Coarse>,
     "coarse", opens_humming<true, false>,
     TrainingInput::kTokenItemsWithDrafts, PlatformAudit::kTrainingStep},
    {"joint", "humming", "predictor and voice, trained together on sound",
     configures<humming::JointConfig, humming::Joint>,
     kNone, kNone,
     TrainingInput::kItemsWithSound, PlatformAudit::kTrainingStep, kNone, kJointParts},
    {"classifier", "preset_classifier", "classifies the preset of a sound, a judge of timbre",
     configures<preset_classifier::PresetClassifierConfig, preset_classifier::PresetClassifier>,
     "classifier", opens<preset_classifier::ClassifierSession>,
     TrainingInput::kLabelledCrops, PlatformAudit::kTrainingStep},
    {"ear", "ear", "the notes of one voice",
     configures<ear::EarConfig, ear::Ear>,
     "ear", opens<ear::EarSession>,
     TrainingInput::kSungCrops, PlatformAudit::kTrainingStep},
    {"separator", "separator", "six stems of a song",
     configures<separator::SeparatorConfig, separator::Separator>,
     "separator", opens<separator::SeparatorSession>,
     TrainingInput::kStems, PlatformAudit::kTrainingStep},
    {"llama", "llama", "Llama, Mistral or Qwen2 from a Hugging Face folder",
     configures<llama::LlamaConfig, llama::Llama>,
     kNone, opens<llama::LlamaSession>,
     TrainingInput::kNone, PlatformAudit::kTrainingStep},
    {"dac", "codec", "Descript's codec, used only by tests",
     configures<codec::DacConfig, codec::Dac>,
     kNone, kNone,
     TrainingInput::kNone, PlatformAudit::kNone},
    {"basic_pitch", "basic_pitch", "notes of a recording, from its published ONNX file",
     kNone,
     kNone, opens<basic_pitch::Transcriber>,
     TrainingInput::kNone, PlatformAudit::kNone},
    {"spleeter", "spleeter", "vocals and accompaniment of a song, by published weights",
     configures<spleeter::SpleeterConfig, spleeter::Spleeter>,
     kNone, opens<spleeter::Separator>,
     TrainingInput::kNone, PlatformAudit::kNone},
    // clang-format on
};

}  // namespace

std::span<const ModelRow> registry() { return kRegistry; }

const ModelRow* find_model(std::string_view model_type) {
  const std::string_view name = runtime::plain_model_type(model_type);
  for (const ModelRow& row : kRegistry) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string trained_models() {
  std::string names;
  for (const ModelRow& row : kRegistry) {
    if (row.input == TrainingInput::kNone) continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace hum::models
