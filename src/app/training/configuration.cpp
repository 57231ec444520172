#include "app/training/configuration.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "app/play/synthesizer.h"
#include "base/bounds.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/names.h"
#include "data/shards/item_codes.h"
#include "data/synthesis/timing.h"
#include "runtime/weights.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;

struct FileFields {
  std::string model_type;
  StageConfig stage;
  Json model = Json::object();

  template <class V>
  void visit_fields(V& v) {
    v("model_type", model_type, "which model: " + models::trained_models());
    v("stage", stage, "data, batch and schedule of the training");
    v("model", model, "sizes of the model");
  }
};

// Names of the models whose configuration has all of these fields.
std::vector<std::string> models_with(const Json& model) {
  std::vector<std::string> names;
  for (const auto& row : models::registry()) {
    if (row.input == models::TrainingInput::kNone) continue;
    const auto fields = row.configuration->field_names();
    const bool has_all = std::ranges::all_of(model.items(), [&](const auto& field) {
      return std::ranges::find(fields, field.key()) != fields.end();
    });
    if (has_all) names.emplace_back(row.name);
  }
  return names;
}

// The fields of a file do not select its model; they only select the hint.
[[noreturn]] void refuse_without_type(const fs::path& path, const Json& model,
                                      std::string_view expected) {
  auto names = models_with(model);
  if (!expected.empty()) names = {std::string(expected)};
  std::vector<std::string> lines;
  for (const auto& name : names) lines.push_back("model_type: " + name);
  fail(ExitCode::kConfig, fmt::format("{}: model_type is missing", path.string()),
       lines.empty() ? "begin with a line 'model_type: MODEL', one of " + models::trained_models()
                     : fmt::format("add the line '{}' at the top", fmt::join(lines, "' or '")));
}

const models::ModelRow& row_of(const fs::path& path, const std::string& model_type) {
  const auto* row = models::find_model(model_type);
  if (row != nullptr && row->configuration) return *row;
  fail(ExitCode::kConfig,
       row == nullptr ? fmt::format("{}: there is no model '{}'", path.string(), model_type)
                      : fmt::format("{}: {} takes no configuration", path.string(), model_type),
       "model_type is one of " + models::trained_models());
}

// The names that find_configuration() knows.
std::vector<std::string> configuration_names() {
  std::vector<std::string> names = {"tiny", "385m", "10b"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_folder() / "configs", error)) {
    if (!entry.is_directory()) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

graph::DType dtype_of(Compute compute) {
  return compute == Compute::kBf16 ? graph::DType::kBF16 : graph::DType::kF32;
}

fs::path weights_of(const StageConfig& stage) {
  return weights_folder(stage.weights, "stage.weights");
}

void expand_paths(StageConfig& stage) {
  for (auto* path : {&stage.data, &stage.run, &stage.output, &stage.weights}) {
    *path = with_runs_folder(*path);
  }
}

void validate(const StageConfig& stage) {
  const std::tuple<const char*, int64_t, int64_t> least_values[] = {
      {"batch", stage.batch, 1}, {"frames", stage.frames, 1}, {"held_out", stage.held_out, 0}};
  for (const auto& [name, value, least] : least_values) {
    if (value >= least) continue;
    fail(ExitCode::kConfig, fmt::format("stage.{} = {} is too small", name, value),
         fmt::format("use {} or more", least));
  }
  const std::pair<const char*, double> shares[] = {{"copied_share", stage.copied_share},
                                                   {"recorded_share", stage.recorded_share}};
  for (const auto& [name, share] : shares) {
    if (share >= 0 && share <= 1) continue;
    fail(ExitCode::kConfig, fmt::format("stage.{} {} is outside 0..1", name, share));
  }
  const Bounds bounds("stage.");
  bounds.require("batch", stage.batch, 1, 65536);
  bounds.require("predicted_share", stage.predicted_share, 0, 1);
  bounds.require("token_replacement", stage.token_replacement, 0, 1);
  train::validate(stage.loop);
}

void ModelConfiguration::check() const {
  const ErrorContext file([&] { return "reading " + path.string(); });
  // Windows of stems are longer; data::stem_batch knows how long.
  if (row->input != models::TrainingInput::kStems && stage.frames > data::kItemFrames) {
    fail(ExitCode::kConfig, fmt::format("stage.frames = {} is longer than an item", stage.frames),
         fmt::format("use {} or less", data::kItemFrames));
  }
  row->configuration->check(model);
}

std::unique_ptr<const models::AnyModel> ModelConfiguration::make() const {
  const ErrorContext file([&] { return "reading " + path.string(); });
  const ErrorContext field([] { return std::string("reading field 'model'"); });
  return row->configuration->make(model);
}

nn::StepShape ModelConfiguration::step_shape() const {
  return {.batch = stage.batch,
          .samples = stage.frames * data::kFrameSamples,
          .frames = data::kItemFrames,
          .reference_frames = data::kReferenceFrames,
          .compute = dtype_of(stage.compute)};
}

std::optional<fs::path> find_configuration(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored) && !is_folder(name)) return name;
  const auto configs = data_folder() / "configs";
  for (const std::string& file :
       {name == "tiny" ? std::string("coarse.yaml") : name + ".yaml", "coarse-" + name + ".yaml"}) {
    if (fs::exists(configs / file)) return configs / file;
  }
  return std::nullopt;
}

fs::path configuration_path(const std::string& name) {
  if (const auto found = find_configuration(name)) return *found;
  const std::string stem = fs::path(name).stem().string();
  const std::string hint = "give a YAML file, or the name of one in configs/" +
                           (find_configuration(stem) ? ": " + stem : "");
  if (is_folder(name)) fail(ExitCode::kNoInput, name + ": is a folder", hint);
  if (fs::path(name).has_extension() || name.find('/') != std::string::npos) {
    require_exists(name, hint);
  }
  const auto likely = likely_name(name, configuration_names());
  fail(ExitCode::kUsage, fmt::format("no model or configuration '{}'", name),
       likely ? fmt::format("did you mean '{}'?", *likely)
              : fmt::format("use one of {}, tiny, 385m, 10b, a name in configs/, or a YAML file",
                            models::trained_models()));
}

ModelConfiguration read_configuration(const fs::path& path, std::string_view expected) {
  const Json file = read_yaml(path);
  FileFields fields;
  {
    const ErrorContext context([&] { return "reading " + path.string(); });
    from_json(file, fields);
  }
  if (fields.model_type.empty()) refuse_without_type(path, fields.model, expected);
  const auto& row = row_of(path, fields.model_type);
  if (!expected.empty() && row.name != expected) {
    fail(ExitCode::kUsage,
         fmt::format("{} is a configuration of {}, not of {}", path.string(), row.name, expected),
         fmt::format("hum train {}", path.string()));
  }
  return {path, &row, std::move(fields.stage), std::move(fields.model)};
}

}  // namespace hum::app
