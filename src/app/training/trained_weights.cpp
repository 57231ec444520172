#include "app/training/trained_weights.h"

#include <algorithm>

#include "base/log.h"
#include "data/synthesis/excitation.h"
#include "models/humming/melody_columns.h"
#include "runtime/weights.h"

namespace hum::app {

namespace fs = std::filesystem;
using models::ModelRow;

namespace {

// Leaves out what configurations of earlier releases, in which it was always so, did not have.
Json recorded_alone(Json config) {
  const bool is_mono = config.contains("common") && config["common"]["channels"] == "mono";
  if (is_mono) config["common"].erase("channels");
  if (config.value("timbre", "") == "pooled") config.erase("timbre");
  if (config.value("phase_latent", -1) == 0) {
    for (const char* field : {"phase_latent", "phase_books", "phase_width", "phase_blocks"}) {
      config.erase(field);
    }
  }
  const Json earlier = {{"consistency_weight", 0.0},
                        {"floor_db", 60.0},
                        {"excitation_tail_s", data::kExcitationTail_s},
                        {"free_branch", false},
                        {"free_low_bins", 0},
                        {"onset_weight", 0.0},
                        {"draft_follows_timbre", false},
                        {"spacing", "mel"}};
  for (const auto& [field, value] : earlier.items()) {
    if (config.contains(field) && config[field] == value) config.erase(field);
  }
  return config;
}

// The weights in `init` of a model that is no joint one. `names`: of its parameters.
runtime::Weights weights_to_start_from(const fs::path& init, const ModelRow& row,
                                       std::span<const std::string> names) {
  if (!row.starts_from || fs::exists(init / row.name) || !fs::exists(init / *row.starts_from)) {
    return runtime::read_weights(init / row.name);
  }
  spdlog::info("{} has no {}: starting from its {}", init.string(), row.name, *row.starts_from);
  auto weights = runtime::read_weights(init / *row.starts_from);
  std::erase_if(weights.tensors, [&](const auto& tensor) {
    return std::ranges::find(names, tensor.first) == names.end();
  });
  return weights;
}

// Adds the model's tensors in `init`; `prefix`: of their names in a joint model.
void add_initial(const fs::path& init, const ModelRow& row, const Json& config,
                 std::span<const std::string> names, const std::string& prefix,
                 std::vector<train::NamedTensor>& initial) {
  auto weights = weights_to_start_from(init, row, names);
  if (config.contains("common")) {
    models::humming::widen_for_features(weights, config.at("common").at("melody_features"));
  }
  for (auto& [name, tensor] : weights.tensors) {
    initial.push_back({prefix + name, std::move(tensor)});
  }
}

// The names of parameters with a prefix, without it.
std::vector<std::string> names_below(const nn::ParameterList& parameters,
                                     const std::string& prefix) {
  std::vector<std::string> names;
  for (const nn::Parameter& parameter : parameters.all()) {
    if (parameter.name.starts_with(prefix)) names.push_back(parameter.name.substr(prefix.size()));
  }
  return names;
}

std::string prefix_of(std::string_view part) { return std::string(part) + "."; }

// Writes the tensors with a prefix, without it.
std::string write_alone(std::string_view name, const fs::path& output, const Json& config,
                        std::span<const train::NamedTensor> parameters, const std::string& prefix) {
  runtime::Weights weights{{{"model_type", fmt::format("hum-{}", name)}, {"model", config}}, {}};
  for (const auto& [full_name, tensor] : parameters) {
    if (!full_name.starts_with(prefix)) continue;
    weights.tensors.emplace_back(full_name.substr(prefix.size()), tensor);
  }
  runtime::write_weights(output, weights);
  return runtime::shards_sha256(output);
}

}  // namespace

Json recorded_model(const ModelRow& row, Json config) {
  if (row.parts.empty()) return recorded_alone(std::move(config));
  for (const std::string_view part : row.parts) config[part] = recorded_alone(config[part]);
  return config;
}

std::vector<train::NamedTensor> initial_tensors(const fs::path& init, const ModelRow& row,
                                                const models::AnyModel& model,
                                                std::vector<train::NamedTensor> frozen) {
  std::vector<train::NamedTensor> initial;
  if (!init.empty()) {
    const Json config = model.config();
    if (row.parts.empty()) {
      add_initial(init, row, config, names_below(model.parameters(), ""), "", initial);
    }
    for (const std::string_view part : row.parts) {
      const std::string prefix = prefix_of(part);
      add_initial(init, *models::find_model(part), config.at(part),
                  names_below(model.parameters(), prefix), prefix, initial);
    }
  }
  for (auto& tensor : frozen) initial.push_back(std::move(tensor));
  return initial;
}

void require_places(const ModelRow& row, const fs::path& output) {
  if (row.parts.empty()) return runtime::require_weights_place(output);
  for (const std::string_view part : row.parts) runtime::require_weights_place(output / part);
}

std::string write_model_weights(const ModelRow& row, const fs::path& output, const Json& config,
                                std::span<const train::NamedTensor> parameters) {
  if (row.parts.empty()) return write_alone(row.name, output, config, parameters, "");
  std::string sha256;
  for (const std::string_view part : row.parts) {
    sha256 += write_alone(part, output / part, config.at(part), parameters, prefix_of(part));
  }
  return sha256;
}

}  // namespace hum::app
