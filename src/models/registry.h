// Every model of hum, one row each. What is done to any model (reading its configuration, training,
// counting, auditing, compiling ahead, planning memory, checking stored weights) goes through here.
// What a model alone can do, such as coding sound or drawing tokens, its session offers.
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

// What a training step learns from. app/training/inputs.cpp makes the arrays of each under these
// names; a model takes those that the batch of its TrainSpec names.
enum class TrainingInput {
  kNone,                  // hum train does not train it
  kWaveformCrops,         // audio
  kLabelledCrops,         // audio, preset: its place in the configuration's `presets`
  kCropsWithNotes,        // audio, latents, melody, excitation
  kTokenItems,            // codes, latents, melody, reference, reference_frames
  kTokenItemsWithDrafts,  // those, and draft: the upsampler's latents
};

// What `hum audit` holds against a platform.
enum class PlatformAudit { kNone, kTrainingStep };

// What the planner needs to know of a language model.
struct LanguageModelShape {
  nn::TransformerConfig transformer;
  int64_t vocabulary = 0;
};

// A model of some configuration, its type erased.
class AnyModel {
 public:
  virtual ~AnyModel() = default;
  // All fields, those with their default value too.
  virtual Json config() const = 0;
  virtual const nn::ParameterList& parameters() const = 0;
  // Elements of the published model, without what hum conditions it with; of most models all.
  virtual int64_t core_parameters() const = 0;
  // Absent when it is no transformer over a vocabulary.
  virtual std::optional<LanguageModelShape> language_model() const = 0;
  // Refers to the model. Throws kUsage when it has no training step.
  virtual nn::TrainSpec train_spec(const nn::StepShape& shape) const = 0;
};

// How a model is made of its configuration, the `model` of a configuration file.
struct Configuration {
  std::vector<std::string> (*field_names)();
  // Throws kConfig on unknown fields and wrong types.
  std::unique_ptr<const AnyModel> (*make)(const Json& config);
};

// The session that runs a model with the weights in its part of a folder, for callers that only ask
// whether it opens; others construct the session by its type. Throws what the session throws.
using OpenSession = std::shared_ptr<const void> (*)(runtime::Session& session,
                                                    const std::filesystem::path& weights,
                                                    std::string_view part);

// What does not apply to a model.
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
};

std::span<const ModelRow> registry();

// By model_type in either spelling, "coarse" or "hum-coarse"; null when there is none.
const ModelRow* find_model(std::string_view model_type);

// Names of the models that hum train trains, "codec, voice, ...".
std::string trained_models();

}  // namespace hum::models
