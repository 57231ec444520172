// The registry of hum's models, one row each. Everything that works for any model (reading its
// configuration, training, counting, auditing, compiling ahead, planning memory, checking stored
// weights) uses it. Functions of a single model, such as coding sound or sampling tokens, are in
// its session.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/required.h"
#include "nn/model_spec.h"
#include "nn/transformer.h"
#include "runtime/session.h"

namespace hum::models {

// The input of a training step. app/training/inputs.cpp makes the arrays of each kind under these
// names; a model uses those that the batch of its TrainSpec names.
enum class TrainingInput {
  kNone,                  // hum train does not train it
  kWaveformCrops,         // audio
  kLabelledCrops,         // audio, preset: its index in the configuration's `presets`
  kCropsWithNotes,        // audio, latents, melody, excitation
  kSungCrops,             // audio, f0, note, onset, offset: synthetic voices in rooms and noise
  kTokenItems,            // codes, latents, melody, reference, reference_frames
  kTokenItemsWithDrafts,  // those, and draft: the upsampler's latents
  kItemsWithSound,        // token items, and audio, played and excitation: the target's notes
  kStems,                 // stems, mixture: six stems of a song at 44,100 Hz, and their sum
};

// What `hum audit` checks against a platform.
enum class PlatformAudit { kNone, kTrainingStep };

// The planner's input for a language model.
struct LanguageModelShape {
  nn::TransformerConfig transformer;
  int64_t vocabulary = 0;
};

// A type-erased model with its configuration.
class AnyModel {
 public:
  virtual ~AnyModel() = default;
  // All fields, including those with default values.
  virtual Json config() const = 0;
  virtual const nn::ParameterList& parameters() const = 0;
  // Number of elements of the published model, without hum's conditioning; for most models all.
  virtual int64_t core_parameters() const = 0;
  // Absent unless it is a transformer over a vocabulary.
  virtual std::optional<LanguageModelShape> language_model() const = 0;
  // Refers to the model. Throws kUsage when it has no training step.
  virtual nn::TrainSpec train_spec(const nn::StepShape& shape) const = 0;
};

// Makes a model from its configuration, the `model` of a configuration file.
struct Configuration {
  std::vector<std::string> (*field_names)();
  // Throws kConfig on unknown fields, wrong types and values out of range.
  void (*check)(const Json& config);
  // Throws what check() throws.
  std::unique_ptr<const AnyModel> (*make)(const Json& config);
};

// Opens the session that runs a model with the weights in its part of a folder, for callers that
// only check that it opens; others construct the session by its type. Throws what the session
// throws.
using OpenSession = std::shared_ptr<const void> (*)(runtime::Session& session,
                                                    const std::filesystem::path& weights,
                                                    std::string_view part);

// The value for a property that does not apply to a model.
inline constexpr std::nullopt_t kNone = std::nullopt;

struct ModelRow {
  std::string_view name;     // model_type of configurations, hum-<name> in its weights
  std::string_view folder;   // of its code and README, in src/models
  std::string_view summary;  // one line
  std::optional<Configuration> configuration;
  std::optional<std::string_view> weights;  // its part of a folder of released weights
  std::optional<OpenSession> open;
  Required<TrainingInput> input;
  Required<PlatformAudit> audit;
  // Another model whose weights a training may start from, if the folder does not hold this
  // model's.
  std::optional<std::string_view> starts_from = kNone;
  // Models that are trained together as this one. Each has its field in the configuration, its
  // prefix in the names of parameters ("voice."), and its own part of a folder of weights.
  std::span<const std::string_view> parts = {};
};

std::span<const ModelRow> registry();

// Finds a model by model_type in either spelling, "coarse" or "hum-coarse"; null when there is
// none.
const ModelRow* find_model(std::string_view model_type);

// Names of the models that hum train trains, "codec, voice, ...".
std::string trained_models();

}  // namespace hum::models
