// A model's configuration file (configs/*.yaml): the model, its training, its sizes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "models/registry.h"
#include "train/loop.h"

namespace hum::app {

enum class Compute { kF32, kBf16 };
inline EnumNames<Compute> enum_names(Compute) {
  static constexpr std::pair<Compute, std::string_view> kNames[] = {{Compute::kF32, "f32"},
                                                                    {Compute::kBf16, "bf16"}};
  return kNames;
}
graph::DType dtype_of(Compute compute);

// What the upsampler's latents are compared with.
enum class Targets {
  kTokens,     // the codec's own latents
  kPhaseFree,  // their mean over shifts and polarities of the sound (data/features/phase_free.h)
};
inline EnumNames<Targets> enum_names(Targets) {
  static constexpr std::pair<Targets, std::string_view> kNames[] = {
      {Targets::kTokens, "tokens"}, {Targets::kPhaseFree, "phase_free"}};
  return kNames;
}

// The part of a configuration that does not depend on the model.
struct StageConfig {
  std::string data = "runs/data";
  std::string run;
  std::string output;
  // Folder of the models that this stage builds on (codec, ...); empty: HUM_WEIGHTS, else weights/.
  std::string weights;
  int64_t batch = 16;
  // Frames of a crop; models that train on whole items ignore it.
  int64_t frames = 100;
  // Crops with notes: share of a batch that takes its latents from predictor or upsampler, not the
  // codec.
  double predicted_share = 0;
  // Labelled crops: shares of a batch that are changed (crop_changes.h).
  double copied_share = 0, recorded_share = 0;
  // Whole items: augmentation.
  double token_replacement = 0.05;
  Targets targets = Targets::kTokens;
  // Trains only parameters whose names start with these; the others keep their --init values;
  // empty: trains all.
  std::string train_only;
  // Items that training never uses: the last of the data; of stems, whole songs, so maybe more.
  int64_t held_out = 192;
  Compute compute = Compute::kBf16;
  train::LoopConfig loop;

  template <class V>
  void visit_fields(V& v) {
    v("data", data,
      "folder of training items (hum data make); this and the other folders may begin "
      "with $HUM_RUNS/");
    v("run", run, "folder for checkpoints and log");
    v("output", output, "weights folder to write");
    v("weights", weights,
      "folder of the weights that this stage builds on (empty: HUM_WEIGHTS, else weights/)");
    v("batch", batch, "items in a batch");
    v("frames", frames, "frames of a training crop");
    v("predicted_share", predicted_share,
      "voice: share of a batch that takes its latents from predictor or upsampler, not the codec");
    v("copied_share", copied_share,
      "classifier: share of crops that are copied by the codec, with half of its books or more");
    v("recorded_share", recorded_share,
      "classifier: share of crops that are recorded in a small room, with noise and an equalizer");
    v("token_replacement", token_replacement,
      "upsampler, coarse: share of melody frames to replace by others (0: none)");
    v("targets", targets,
      "upsampler that trains the draft alone: tokens, or phase_free (mean over 8 encodings)");
    v("train_only", train_only, "train only parameters whose names start with these (empty: all)");
    v("held_out", held_out,
      "items that training never uses: the last of the data; of stems, whole songs");
    v("compute", compute, "element type of activations: f32 or bf16");
    v("loop", loop, "steps, schedule, checkpoints");
  }
};

struct ModelConfiguration {
  std::filesystem::path path;
  const models::ModelRow* row = nullptr;  // of the file's model_type; has a configuration
  StageConfig stage;
  Json model = Json::object();

  // Throws kConfig naming the field that the model does not have or whose value is out of range.
  void check() const;
  // Throws what check() throws.
  std::unique_ptr<const models::AnyModel> make() const;
  nn::StepShape step_shape() const;
};

// Finds a configuration: a YAML file, or the name of one in configs/ without its extension: a model
// (codec, ...), a variant of it (codec-decoder), or a size of the coarse LM (tiny, 385m, 10b).
std::optional<std::filesystem::path> find_configuration(const std::string& name);
// Throws kUsage for an unknown name, with the nearest; kNoInput for a file that is missing.
std::filesystem::path configuration_path(const std::string& name);

// `expected`: the model that the file must be of; empty: any. Throws: kNoInput; kConfig for a file
// without model_type, with the line to add, and for unknown fields and wrong types; kUsage when it
// is of another model than `expected`.
ModelConfiguration read_configuration(const std::filesystem::path& path,
                                      std::string_view expected = "");

// The folder of the models that a stage builds on.
std::filesystem::path weights_of(const StageConfig& stage);

// Replaces a leading $HUM_RUNS in the folders of a stage (base/files.h: with_runs_folder).
void expand_paths(StageConfig& stage);

// Throws: kConfig for values that no stage accepts.
void validate(const StageConfig& stage);

}  // namespace hum::app
